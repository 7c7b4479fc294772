import type * as pulumi from "@pulumi/pulumi";
import type * as cpln from "@pulumiverse/cpln";

/** Who can reach the proxy. */
export const Exposure = {
  /** The world, as far as `allow` goes, through a load balancer of the proxy's own. */
  Public: "public",
  /** Workloads of the same GVC, or those in `allowWorkloads`. No load balancer, which is what idles dearest. */
  Internal: "internal",
} as const;
export type Exposure = (typeof Exposure)[keyof typeof Exposure];

/** What a held client sees when its time is up. */
export const HoldEnd = {
  /** An orderly close. */
  Close: "close",
  /** A reset, which most clients report as a failure at once. */
  Reset: "reset",
} as const;
export type HoldEnd = (typeof HoldEnd)[keyof typeof HoldEnd];

/** What a held client means that ends its half without having sent a byte. */
export const ClientFin = {
  /** It has left. */
  Leave: "leave",
  /** It waits for what the server says. */
  Wait: "wait",
} as const;
export type ClientFin = (typeof ClientFin)[keyof typeof ClientFin];

/** What moves the bytes of spliced sessions. */
export const DataPlane = {
  /** The native plane where the image has it, else the JavaScript one. */
  Auto: "auto",
  Native: "native",
  Js: "js",
} as const;
export type DataPlane = (typeof DataPlane)[keyof typeof DataPlane];

/** How a port proves that the application itself answers. */
export const ReadinessKind = {
  /** The server's first bytes, whatever they are or matching `pattern`. */
  Banner: "banner",
  Ssh: "ssh",
  Smtp: "smtp",
  Ftp: "ftp",
  Imap: "imap",
  Pop3: "pop3",
  /** MySQL and MariaDB. */
  Mysql: "mysql",
  Postgres: "postgres",
  /** Redis, Valkey and what speaks like them. */
  Redis: "redis",
  Mqtt: "mqtt",
  Amqp: "amqp",
  /** HTTP without TLS: an answer below 500. */
  Http: "http",
  /** Anything inside TLS, HTTPS among it. */
  Tls: "tls",
  /** Minecraft, Java edition. */
  Minecraft: "minecraft",
  Memcached: "memcached",
  /** `send` or `sendHex` is sent; any bytes, or those that match `expect`, are the proof. */
  Custom: "custom",
  /** The client's own first bytes, again and again: the target may see the first message twice. */
  Replay: "replay",
  /** The platform's word that the deployment is ready, for targets that never answer unasked. */
  Platform: "platform",
} as const;
export type ReadinessKind = (typeof ReadinessKind)[keyof typeof ReadinessKind];

/** What of a client wakes the target. */
export const WakeOn = {
  /** Its connection. */
  Connect: "connect",
  /** Its first bytes. */
  Payload: "payload",
  /** First bytes that are those of the named protocol. */
  Fitting: "fitting",
} as const;
export type WakeOn = (typeof WakeOn)[keyof typeof WakeOn];

/** How a port is asked whether the application answers. Each option belongs to some kinds only. */
export interface ReadinessArgs {
  /** The protocol, or another way to prove it. */
  kind: pulumi.Input<ReadinessKind>;
  /** With `banner`: a regular expression that the first bytes must match. */
  pattern?: pulumi.Input<string>;
  /** With `postgres`: the user that the probe names. Default `postgres`. */
  user?: pulumi.Input<string>;
  /** With `postgres`: the database that the probe names. Default `postgres`. */
  database?: pulumi.Input<string>;
  /** With `http`: the method. Default `GET`. */
  method?: pulumi.Input<string>;
  /** With `http`: the path. Default `/`. */
  path?: pulumi.Input<string>;
  /** With `http`: the `Host` header. Default: the internal name. */
  host?: pulumi.Input<string>;
  /** With `tls`: the server name to ask for. Default: none. */
  serverName?: pulumi.Input<string>;
  /** With `custom`: the text to send, with `\r`, `\n`, `\t`, `\0`, `\\` and `\xHH`. */
  send?: pulumi.Input<string>;
  /** With `custom`: the bytes to send, in hex, in place of `send`. */
  sendHex?: pulumi.Input<string>;
  /** With `custom`: a regular expression that the answer must match. Default: any byte will do. */
  expect?: pulumi.Input<string>;
  /** With `replay`: how many of a client's bytes may be sent again. Default 16384, at most `earlyBytes`. */
  bytes?: pulumi.Input<number>;
}

/** One port of the target and how it is reached. */
export interface PortArgs {
  /**
   * The port that clients connect to: on the load balancer, 22-32768; with `expose: "internal"` only the default for
   * `listen`. Changing it moves the address of this port; sessions on the old one end with the rollout's drain.
   */
  port: pulumi.Input<number>;
  /**
   * The port that the proxy's container listens on, 80-65535 without the platform's reserved ones. Default: `port`
   * where it is 1024 or above, free and not reserved, else 10000 + `port`, because a container can't declare a port
   * below 80 and an unprivileged process should stay above 1023. Changing it rolls the proxy.
   */
  listen?: pulumi.Input<number>;
  /** The target's port, 80-65535 without the reserved ones. Default: `port`. Changing it rolls the proxy. */
  target?: pulumi.Input<number>;
  /**
   * How the port proves that the application itself answers. Default: the protocol that the target's port, or else
   * `port`, suggests (22, 2022, 2222 ssh; 21 ftp; 25, 587 smtp; 3306 mysql; 5432 postgres; 6379 redis; 1883 mqtt;
   * 5672 amqp), else `banner`, which never comes where the client has to speak first. Changing it rolls the proxy.
   */
  readiness?: pulumi.Input<ReadinessArgs>;
  /**
   * What of a client wakes the target. Default: `fitting` where clients of the protocol speak at once, so that a
   * scan costs nothing, else `connect`. Changing it rolls the proxy.
   */
  wakeOn?: pulumi.Input<WakeOn>;
}

/** One of several targets behind one proxy, told apart by the port that a client connects to. */
export interface TargetArgs {
  /** The workload to wake and suspend: the `cpln.Workload` itself, its name, or a link to it. */
  target: pulumi.Input<string> | cpln.Workload;
  /** The target's GVC. Default: that of the `cpln.Workload` or link given as `target`, else the proxy's `gvc`. */
  targetGvc?: pulumi.Input<string>;
  /** The internal name to dial. Default: `{workload}.{gvc}.cpln.local`, the platform's own. */
  targetHost?: pulumi.Input<string>;
  /** The target's ports, at least one; public ports and listen ports are unique over all targets. */
  ports: pulumi.Input<pulumi.Input<PortArgs>[]>;
  /** How long this target is kept awake after its last connection closed. Default: `idleHold` of the component. */
  idleHold?: pulumi.Input<string>;
  /** How long a client of this target is held before it is dropped. Default: `maxHold` of the component. */
  maxHold?: pulumi.Input<string>;
  /** How long one attempt to wake this target lasts. Default: `wakeTimeout` of the component. */
  wakeTimeout?: pulumi.Input<string>;
  /** Clients of this target held at once; one more is refused. Default: `maxHeld` of the component. */
  maxHeld?: pulumi.Input<number>;
  /** Clients of this target held or spliced at once. Default: `maxConnections` of the component. */
  maxConnections?: pulumi.Input<number>;
}

/**
 * Durations are text in Go's syntax: `500ms`, `90s`, `5m`, `1h30m`. Changing any setting of the proxy rolls it: the
 * new replica starts beside the old one, which goes on serving its sessions for up to `drainTimeout`.
 */
export interface ScaleToZeroTcpArgs {
  /**
   * The GVC that the proxy runs in. Changing it replaces everything, the load balancer's address included, and ends
   * all sessions.
   */
  gvc: pulumi.Input<string>;
  /**
   * The workload to wake and suspend: the `cpln.Workload` itself, its name, or a link to it. It may exist already;
   * its firewall must let the proxy in (`proxyWorkloadLink`). Changing it rolls the proxy onto the new target; the
   * old one is left as it is. Required unless `targets` is given.
   */
  target?: pulumi.Input<string> | cpln.Workload;
  /** The target's GVC. Default: that of the `cpln.Workload` or link given as `target`, else `gvc`. */
  targetGvc?: pulumi.Input<string>;
  /** The internal name to dial. Default: `{workload}.{gvc}.cpln.local`, the platform's own. */
  targetHost?: pulumi.Input<string>;
  /**
   * The target's ports, at least one; the first is the one probed while nobody is held. Required unless `targets` is
   * given.
   */
  ports?: pulumi.Input<pulumi.Input<PortArgs>[]>;
  /**
   * Several targets behind one proxy and one load balancer, told apart by port; instead of `target`, `targetGvc`,
   * `targetHost` and `ports`. Each is woken and suspended on its own. It costs one proxy and one load balancer for
   * all; changing the list rolls the proxy for all of them. Default: the one target that those arguments describe.
   */
  targets?: pulumi.Input<pulumi.Input<TargetArgs>[]>;

  /** `public` (default) or `internal`. `internal` costs no load balancer; changing it adds or removes the address. */
  expose?: pulumi.Input<Exposure>;
  /**
   * The addresses that may connect, as CIDRs, at most 250. Required when public: no default opens a port to the
   * world. Changing it does not touch running sessions; the platform takes up to some minutes to apply it.
   */
  allow?: pulumi.Input<pulumi.Input<string>[]>;
  /**
   * Workloads that may connect inside the platform, as links (`//gvc/G/workload/W`). Default: none when public, the
   * whole GVC when internal. Changing it ends no session; the platform takes up to some minutes to apply it.
   */
  allowWorkloads?: pulumi.Input<pulumi.Input<string>[]>;
  /**
   * An IP set, by name or link, for static addresses of the load balancer. Default: none, as the platform charges for
   * it. Changing it moves the address; sessions on the old one end.
   */
  ipset?: pulumi.Input<string>;
  /**
   * The one location of the GVC that the proxy runs in, by name. Needed where the GVC has several, because two
   * proxies don't know of each other's clients yet. Default: wherever the GVC is.
   */
  location?: pulumi.Input<string>;

  /**
   * How long the target is kept awake after its last connection closed. Default `5m`, so that a client's next
   * connection lands warm; up to `168h`. The target is paid for during it. Above 0.
   */
  idleHold?: pulumi.Input<string>;
  /**
   * How long a client is held before it is dropped. Default `90s`, several times a usual wake; up to `1h`. Clients'
   * own timeouts are often shorter, and no proxy can lengthen them.
   */
  maxHold?: pulumi.Input<string>;
  /**
   * How long one attempt to wake lasts, API call and probing together; while somebody is held the next one follows.
   * Default `120s`, for targets that are slow to start; up to `1h`.
   */
  wakeTimeout?: pulumi.Input<string>;
  /** The time between two readiness probes during a wake. Default `500ms`; `10ms` to `1m`. */
  wakePollInterval?: pulumi.Input<string>;
  /** How long a probe waits for the server's first bytes. Default `2s`; `10ms` to `1m`. */
  probeWindow?: pulumi.Input<string>;
  /** What a held client sees when its time is up: `close` (default) or `reset`. */
  holdEnd?: pulumi.Input<HoldEnd>;
  /**
   * What a held client means that ends its half without having sent a byte: `leave` (default), because health checks
   * and port scanners do so and shall not be waited for, or `wait`, for clients that only listen.
   */
  clientFin?: pulumi.Input<ClientFin>;
  /**
   * How often the target is read from the API while somebody is connected, four times this while nobody is. Default
   * `15s`; `50ms` to `1h`. It bounds how long a suspend by somebody else goes unnoticed.
   */
  watchInterval?: pulumi.Input<string>;
  /** Clients held at once; one more is refused. Default 1000, which fits the default memory; 1-60000. */
  maxHeld?: pulumi.Input<number>;
  /** Clients held or spliced at once; one more is refused. Default 4000; 1-60000. */
  maxConnections?: pulumi.Input<number>;
  /**
   * Connections to the target being made at once, so that a burst of held clients doesn't overrun a server that has
   * just started. Default 64; 1-10000.
   */
  dialLimit?: pulumi.Input<number>;
  /**
   * Bytes that a held client may send before it is left unread. Default 16384: more than any opening message; times
   * `maxHeld` it is memory that strangers can fill. 0-1048576.
   */
  earlyBytes?: pulumi.Input<number>;
  /** Clients held at once, all targets together. Default 2000; 1-60000. */
  maxHeldTotal?: pulumi.Input<number>;
  /** Clients held or spliced at once, all targets together. Default 8000, which fits 128Mi; 1-60000. */
  maxConnectionsTotal?: pulumi.Input<number>;
  /** What moves the bytes: `auto` (default), `native` or `js`. */
  dataPlane?: pulumi.Input<DataPlane>;
  /**
   * How long a session whose one side has ended may go on without a byte either way. Default `1h`: longer than any
   * answer takes to work out, and short enough that a forgotten one doesn't keep the target awake for days. 1s-168h.
   */
  halfCloseLinger?: pulumi.Input<string>;
  /**
   * How long one side of a session may take nothing of what the other has sent. Default `1h`: a person may pause a
   * download for a meal. 1s-168h.
   */
  stallLimit?: pulumi.Input<string>;

  /**
   * How long the platform lets an old replica live after it was told to stop, in seconds. Default 90, the
   * platform's own; 5-900. Set it to the longest transfer that a rollout must not cut. An old replica is paid for
   * until its sessions have ended.
   */
  terminationGracePeriodSeconds?: pulumi.Input<number>;
  /**
   * How long a proxy that was told to stop waits for its sessions. Default: the grace less the 15 s that the
   * platform's own shutdown takes (`75s`), or half of a short grace.
   */
  drainTimeout?: pulumi.Input<string>;

  /**
   * The proxy's image. Default: the one released with this version of the package. A mirror of it may be named here,
   * best by the same tag.
   */
  image?: pulumi.Input<string>;
  /** CPU of the proxy. Default `100m`. It is paid for round the clock. */
  cpu?: pulumi.Input<string>;
  /** Memory of the proxy. Default `128Mi`, for the default limits. It is paid for round the clock. */
  memory?: pulumi.Input<string>;
  /** Replicas of the proxy. Default 1, and anything else is refused until replicas know of each other's clients. */
  replicas?: pulumi.Input<number>;
  /** The port of `/healthz` and `/readyz`. Default 8081. Nothing but the platform's probes reaches it. */
  healthPort?: pulumi.Input<number>;
  /**
   * Whether the health port is declared to the platform, so that whoever the internal firewall lets in (see
   * `allowWorkloads`) can read `/healthz`. Default false: it tells which targets there are and who is connected. It is
   * never on the load balancer. Changing it rolls the proxy.
   */
  exposeHealth?: pulumi.Input<boolean>;
  /** Further environment variables of the proxy's container. Default: none. The settings' own names can't be among them. */
  env?: pulumi.Input<{ [key: string]: pulumi.Input<string> }>;

  /**
   * Whether a preview looks at the target and the GVC as the platform has them, and says what won't work. Default
   * true: it reads two documents. False where the token that runs previews may not view them. Running
   * sessions never notice.
   */
  preflight?: pulumi.Input<boolean>;

  /**
   * Whether a destroy of the component un-suspends the target, after the proxy is gone. Default false: it is left as
   * it is. For Node.js programs alone, and not an Output; whoever destroys needs `CPLN_TOKEN` in the environment and
   * `edit` on the target, and a failure there fails the destroy. It costs a running target from then on.
   */
  wakeOnDestroy?: boolean;

  /** The name of the proxy workload, 3-49 characters. Default: the component's name and `-proxy`. */
  workloadName?: pulumi.Input<string>;
  /** The name of the identity, 3-63 characters. Default: the component's name and `-proxy`. */
  identityName?: pulumi.Input<string>;
  /**
   * The name of the policy, 3-63 characters, unique in the organisation. Default: the component's name, `-proxy-`
   * and the GVC.
   */
  policyName?: pulumi.Input<string>;
  /** Tags of everything that the component makes. Default: none. Changing them ends no session. */
  tags?: pulumi.Input<{ [key: string]: pulumi.Input<string> }>;
}
