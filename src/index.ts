export type { ScaleToZeroTcpArgs } from "./args";
export { ClientFin, DataPlane, Exposure, HoldEnd, ReadinessKind, WakeOn } from "./choices";
export { ignoreSuspend, type LiveSuspendArgs, liveSuspend } from "./drift";
export { type EndpointArgs, endpointOf } from "./endpoint";
export { type ProxyWorkloadLinkArgs, proxyWorkloadLink } from "./firewall";
export { ScaleToZeroTcp, type ScaleToZeroTcpResources } from "./scale-to-zero-tcp";
export type { PortArgs, ReadinessArgs, TargetArgs } from "./target-args";
export { defaultImage, version } from "./version";
