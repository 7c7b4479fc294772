/**
 * What a proxy is told, in the one shape that both halves share: the component renders it to environment
 * variables (`renderEnvironment`), the proxy parses it back (`parseEnvironment`). Durations are milliseconds here
 * and text such as `5m` in variables.
 */

import type { ProtocolName } from "./readiness";

/**
 * How a port proves that the target itself, not the mesh in front of it, is there. The grammar and what each kind
 * means are in `readiness.ts`.
 */
export type Readiness =
  | { kind: "banner"; pattern?: string }
  /** A named protocol: the smallest harmless exchange, its answer judged. */
  | { kind: Exclude<ProtocolName, "postgres" | "http" | "tls"> }
  | { kind: "postgres"; user: string; database: string }
  | { kind: "http"; method: string; path: string; host?: string }
  | { kind: "tls"; serverName?: string }
  /** `send` is hex; without `expect` any byte is the proof. */
  | { kind: "custom"; send: string; expect?: string }
  /** The client's own first bytes, up to `bytes` of them. */
  | { kind: "replay"; bytes: number }
  | { kind: "platform" };

/** What of a client wakes the target: its connection, its first bytes, or first bytes that fit the protocol. */
export type WakeOn = "connect" | "payload" | "fitting";

/** One port of a target. The public port of the load balancer is the component's business alone. */
export interface PortMapping {
  /** The port the proxy's container listens on, 1–65535. */
  listen: number;
  /** The target's port, 1–65535. */
  target: number;
  readiness: Readiness;
  wakeOn: WakeOn;
}

/** What a held client sees when its time is up: an orderly close (FIN) or a reset (RST). */
export type HoldEnd = "close" | "reset";

/** What a held client means that ends its half without having sent a byte. */
export type ClientFin = "leave" | "wait";

/** Everything the proxy needs to know of one target. */
export interface TargetSettings {
  workload: string;
  gvc: string;
  /** The internal name dialled; `{workload}.{gvc}.cpln.local` unless overridden. */
  host: string;
  /** At least one; the first is the one probed when nobody is held. */
  ports: PortMapping[];
  idleHoldMs: number;
  maxHoldMs: number;
  wakeTimeoutMs: number;
  wakePollIntervalMs: number;
  probeWindowMs: number;
  holdEnd: HoldEnd;
  clientFin: ClientFin;
  /** How often the workload is read while somebody is connected; four times this while nobody is. */
  watchIntervalMs: number;
  /** Clients held at once; one more is refused. */
  maxHeld: number;
  /** Clients held and spliced at once; one more is refused. */
  maxConnections: number;
  /** Connections to the target being made at once; the next waits its turn, first come first served. */
  dialLimit: number;
  /** Bytes a held client may send before it is left unread (back-pressure). */
  earlyBytes: number;
}

/** How bytes are moved once a client is spliced. */
export type DataPlane = "auto" | "native" | "js";

/** Who the proxy is on the platform and how it reaches the API; all injected by the platform. */
export interface PlatformSettings {
  /** `http://api.cpln.io` inside a workload; no trailing slash. */
  endpoint: string;
  /** The organisation's bare name. */
  org: string;
  /** The proxy's own GVC, bare name. */
  gvc: string;
  /** The proxy's own workload, bare name; absent outside the platform. */
  workload: string | undefined;
  /** The location this replica runs in, bare name; absent outside the platform. */
  location: string | undefined;
  /** The workload's token. A secret: never logged, never rendered. */
  token: string;
}

export interface ProxySettings {
  /** At least one; listen ports are unique across all of them. */
  targets: TargetSettings[];
  healthPort: number;
  /** The address listeners bind; every address by default. */
  listenHost: string;
  /** How long a draining proxy waits for its spliced sessions. */
  drainTimeoutMs: number;
  /**
   * The proxy workload's own termination grace. The replica this one replaces may still drain sessions for that
   * long, so no suspend is sent before it has passed. Absent where nobody rendered it.
   */
  ownGraceMs: number | undefined;
  dataPlane: DataPlane;
  /** How long a half-closed session may go on while nothing moves. */
  halfCloseLingerMs: number;
  /** How long one side of a session may take nothing of what waits for it. */
  stallLimitMs: number;
  /** Caps over all targets together. */
  maxHeldTotal: number;
  maxConnectionsTotal: number;
  platform: PlatformSettings;
}
