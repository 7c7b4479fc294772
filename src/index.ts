export {
  ClientFin,
  DataPlane,
  Exposure,
  HoldEnd,
  type PortArgs,
  type ReadinessArgs,
  ReadinessKind,
  type ScaleToZeroTcpArgs,
  type TargetArgs,
  WakeOn,
} from "./args";
export { ignoreSuspend, type LiveSuspendArgs, liveSuspend } from "./drift";
export { type EndpointArgs, endpointOf } from "./endpoint";
export { type ProxyWorkloadLinkArgs, proxyWorkloadLink } from "./firewall";
export { ScaleToZeroTcp, type ScaleToZeroTcpResources } from "./scale-to-zero-tcp";
export { defaultImage, version } from "./version";
