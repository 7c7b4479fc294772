import type * as pulumi from "@pulumi/pulumi";
import type * as cpln from "@pulumiverse/cpln";
import type { ReadinessKind, WakeOn } from "./choices";

/** How a port is asked whether the application answers. Each option belongs to some kinds only. */
export interface ReadinessArgs {
  /** The protocol, or another way to prove it. Changing this or an option of it rolls the proxy. */
  kind: pulumi.Input<ReadinessKind>;
  /** With `banner`: a regular expression that the first bytes must match. Default: any bytes will do. */
  pattern?: pulumi.Input<string>;
  /**
   * With `postgres`: the user that the probe names. Default `postgres`, which every server has; the server logs it.
   */
  user?: pulumi.Input<string>;
  /** With `postgres`: the database that the probe names. Default `postgres`, which every server has. */
  database?: pulumi.Input<string>;
  /** With `http`: the method. Default `GET`, which every server answers. */
  method?: pulumi.Input<string>;
  /** With `http`: the path. Default `/`: any answer below 500 is the proof, a 404 among them. */
  path?: pulumi.Input<string>;
  /** With `http`: the `Host` header. Default: the internal name that is dialled. */
  host?: pulumi.Input<string>;
  /** With `tls`: the server name to ask for. Default: none, for servers with one certificate. */
  serverName?: pulumi.Input<string>;
  /**
   * With `custom`: the text to send, with `\r`, `\n`, `\t`, `\0`, `\\` and `\xHH`. This or `sendHex`; neither has a
   * default.
   */
  send?: pulumi.Input<string>;
  /** With `custom`: the bytes to send, in hex, in place of `send`. */
  sendHex?: pulumi.Input<string>;
  /** With `custom`: a regular expression that the answer must match. Default: any byte will do. */
  expect?: pulumi.Input<string>;
  /**
   * With `replay`: how many of a client's bytes may be sent again. Default 16384, more than any opening message; 1 to
   * `earlyBytes`.
   */
  bytes?: pulumi.Input<number>;
}

/** One port of the target and how it is reached. */
export interface PortArgs {
  /**
   * The port that clients connect to: on the load balancer, 22-32768; with `expose: "internal"` only the default for
   * `listen`. Changing it moves the address of this port: the old one takes no clients from then on, and sessions on
   * it end with the rollout's drain. A further port costs no further load balancer.
   */
  port: pulumi.Input<number>;
  /**
   * The port that the proxy's container listens on, 80-65535 without the platform's reserved ones. Default: `port`
   * where it is 1024 or above, free and not reserved, else 10000 + `port`, because a container can't declare a port
   * below 80 and an unprivileged process should stay above 1023. Changing it rolls the proxy.
   */
  listen?: pulumi.Input<number>;
  /**
   * The target's port, 80-65535 without the reserved ones. Default: `port`, as most servers are reached by their own.
   * Changing it rolls the proxy; what goes to the old one drains.
   */
  target?: pulumi.Input<number>;
  /**
   * How the port proves that the application itself answers. Default: the protocol that the target's port, or else
   * `port`, suggests (22, 2022, 2222 ssh; 21 ftp; 25, 587 smtp; 3306 mysql; 5432 postgres; 6379 redis; 1883 mqtt;
   * 5672 amqp), else `banner`, which never comes where the client has to speak first. Changing it rolls the proxy.
   */
  readiness?: pulumi.Input<ReadinessArgs>;
  /**
   * What of a client wakes the target. Default: `fitting` where clients of the protocol speak at once, so that a scan
   * costs nothing, else `connect`, because a client that waits for the server's greeting would wait for ever. Each
   * wake costs a running target for `idleHold` at least. Changing it rolls the proxy.
   */
  wakeOn?: pulumi.Input<WakeOn>;
}

/** One of several targets behind one proxy, told apart by the port that a client connects to. */
export interface TargetArgs {
  /**
   * The workload to wake and suspend: the `cpln.Workload` itself, its name, or a link to it. Each only once. Changing
   * it rolls the proxy; the old target is left as it is.
   */
  target: pulumi.Input<string> | cpln.Workload;
  /** The target's GVC. Default: that of the `cpln.Workload` or link given as `target`, else the proxy's `gvc`. */
  targetGvc?: pulumi.Input<string>;
  /** The internal name to dial. Default: `{workload}.{gvc}.cpln.local`, the platform's own. */
  targetHost?: pulumi.Input<string>;
  /**
   * The target's ports, at least one; public ports and listen ports are unique over all targets. Changing them rolls
   * the proxy for all targets.
   */
  ports: pulumi.Input<pulumi.Input<PortArgs>[]>;
  /**
   * How long this target is kept awake after its last connection closed, 1ms to 168h. It is paid for during it.
   * Default: `idleHold` of the component.
   */
  idleHold?: pulumi.Input<string>;
  /**
   * How long a client of this target is held before it is dropped, 1ms to 1h. Default: `maxHold` of the component.
   */
  maxHold?: pulumi.Input<string>;
  /** How long one attempt to wake this target lasts, 1ms to 1h. Default: `wakeTimeout` of the component. */
  wakeTimeout?: pulumi.Input<string>;
  /** Clients of this target held at once, 1-60000; one more is refused. Default: `maxHeld` of the component. */
  maxHeld?: pulumi.Input<number>;
  /**
   * Clients of this target held or spliced at once, 1-60000; one more is refused. Default: `maxConnections` of the
   * component.
   */
  maxConnections?: pulumi.Input<number>;
}
