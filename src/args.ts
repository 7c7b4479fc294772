import type * as pulumi from "@pulumi/pulumi";
import type * as cpln from "@pulumiverse/cpln";
import type { ClientFin, DataPlane, Exposure, HoldEnd } from "./choices";
import type { PortArgs, TargetArgs } from "./target-args";

/**
 * Durations are text in Go's syntax: `500ms`, `90s`, `5m`, `1h30m`. Unless an argument says otherwise, changing it
 * rolls the proxy and costs nothing: the new replica starts beside the old one and takes the new clients, and the old
 * one goes on serving its sessions for up to `drainTimeout`; what is left then is ended. The target is not touched.
 */
export interface ScaleToZeroTcpArgs {
  /**
   * The GVC that the proxy runs in: its name, not a link. Changing it replaces everything, the load balancer's address
   * included, and ends all sessions.
   */
  gvc: pulumi.Input<string>;
  /**
   * The workload to wake and suspend: the `cpln.Workload` itself, its name, or a link to it. It may exist already; its
   * firewall must let the proxy in (`proxyWorkloadLink`). Changing it rolls the proxy onto the new target: sessions to
   * the old one drain, and it is left as it is, running or not. Required unless `targets` is given.
   */
  target?: pulumi.Input<string> | cpln.Workload;
  /**
   * The target's GVC, which may be another than the proxy's. Default: that of the `cpln.Workload` or link given as
   * `target`, else `gvc`, where most targets are.
   */
  targetGvc?: pulumi.Input<string>;
  /**
   * The internal name or the address to dial. Default: `{workload}.{gvc}.cpln.local`, the platform's own. Another is
   * for tests and for names of one's own: what answers there must be the target.
   */
  targetHost?: pulumi.Input<string>;
  /**
   * The target's ports, at least one; the first is the one probed while nobody is held. Changing them rolls the proxy;
   * sessions on a port that is gone drain. All ports share one load balancer. Required unless `targets` is given.
   */
  ports?: pulumi.Input<pulumi.Input<PortArgs>[]>;
  /**
   * Several targets behind one proxy and one load balancer, told apart by port; instead of `target`, `targetGvc`,
   * `targetHost` and `ports`. Each is woken and suspended on its own. It costs one proxy and one load balancer for
   * all. Changing the list rolls the proxy for all of them; one that is taken out is left as it is. Default: the one
   * target that those arguments describe.
   */
  targets?: pulumi.Input<pulumi.Input<TargetArgs>[]>;

  /**
   * `public` or `internal`. Default `public`, for clients outside the platform: it costs a load balancer round the
   * clock. `internal` costs none. Changing it adds or removes the address; sessions through one that is removed end.
   */
  expose?: pulumi.Input<Exposure>;
  /**
   * The addresses that may connect, as CIDRs, 1 to 250 of them. Required when public: no default opens a port to the
   * world. Whoever may connect may wake the target, which is paid for from then on. Changing it does not touch running
   * sessions and rolls nothing; the platform takes up to some minutes to apply it.
   */
  allow?: pulumi.Input<pulumi.Input<string>[]>;
  /**
   * Workloads that may connect inside the platform, as links (`//gvc/G/workload/W`). Default: none when public, as
   * clients come by the load balancer; the whole GVC when internal. Changing it ends no session and rolls nothing; the
   * platform takes up to some minutes to apply it.
   */
  allowWorkloads?: pulumi.Input<pulumi.Input<string>[]>;
  /**
   * An IP set, by name or link, for static addresses of the load balancer. Default: none, as the platform charges for
   * it. Changing it moves the address; sessions on the old one end.
   */
  ipset?: pulumi.Input<string>;
  /**
   * The one location of the GVC that the proxy runs in, by name. Needed where the GVC has several, because two proxies
   * don't know of each other's clients yet. Default: wherever the GVC is. Changing it moves the proxy: sessions in the
   * old location drain, and clients that know its address have to look it up again.
   */
  location?: pulumi.Input<string>;

  /**
   * How long the target is kept awake after its last connection closed, 1ms to 168h. Default `5m`, so that a client's
   * next connection lands warm. The target is paid for during it. Changing it ends no session and suspends nothing
   * under one.
   */
  idleHold?: pulumi.Input<string>;
  /**
   * How long a client is held before it is dropped, 1ms to 1h. Default `90s`, several times a usual wake. Clients' own
   * timeouts are often shorter, and no proxy can lengthen them. A longer hold keeps memory for those who never leave
   * (`maxHeld`).
   */
  maxHold?: pulumi.Input<string>;
  /**
   * How long one attempt to wake lasts, API call and probing together, 1ms to 1h; while somebody is held the next one
   * follows, and its end drops nobody. Default `120s`, for targets that are slow to start.
   */
  wakeTimeout?: pulumi.Input<string>;
  /**
   * The time between two readiness probes during a wake, 10ms to 1m; where nobody listens, and around the boot that is
   * expected, they come sooner. Default `500ms`: behind a mesh that stays silent no client waits much longer than
   * the target's boot. Shorter costs more connections to a target that is busy starting.
   */
  wakePollInterval?: pulumi.Input<string>;
  /**
   * How long a probe waits for the server's first bytes, 10ms to 1m. Default `2s`: a server that is up greets within
   * it, and the mesh's silence is seen through soon. Longer is for servers that look up their client's name first.
   */
  probeWindow?: pulumi.Input<string>;
  /**
   * What a held client sees when its time is up: `close` or `reset`. Default `close`, an orderly end that every client
   * understands; `reset` is for clients that would take it for an empty answer.
   */
  holdEnd?: pulumi.Input<HoldEnd>;
  /**
   * What a held client means that ends its half without having sent a byte: `leave` (default), because health checks
   * and port scanners do so and shall not be waited for, or `wait`, for clients that only listen.
   */
  clientFin?: pulumi.Input<ClientFin>;
  /**
   * How often the target is read from the API while somebody is connected, four times this while nobody is; 50ms to
   * 1h. Default `15s`, which bounds how long a suspend by somebody else goes unnoticed. Each is one call to the API.
   */
  watchInterval?: pulumi.Input<string>;
  /**
   * Clients held at once, 1-60000; one more is refused. Default 1000, which fits the default memory: each may keep
   * `earlyBytes` of it.
   */
  maxHeld?: pulumi.Input<number>;
  /**
   * Clients held or spliced at once, 1-60000; one more is refused. Default 4000, half of what all targets together may
   * have, so that one can't crowd out the others. Lowering it ends no session.
   */
  maxConnections?: pulumi.Input<number>;
  /**
   * Connections to the target being made at once, 1-10000; further held clients wait their turn. Default 64, so that a
   * burst of held clients doesn't overrun a server that has just started. Open sessions don't count.
   */
  dialLimit?: pulumi.Input<number>;
  /**
   * Bytes that a held client may send before it is left unread until it is spliced, 0-1048576. Default 16384: more
   * than any opening message. Times `maxHeld` it is memory that strangers can fill.
   */
  earlyBytes?: pulumi.Input<number>;
  /**
   * Clients held at once, all targets together, 1-60000; one more is refused. Default 2000, twice `maxHeld`, which
   * fits 128Mi.
   */
  maxHeldTotal?: pulumi.Input<number>;
  /**
   * Clients held or spliced at once, all targets together, 1-60000; one more is refused. Default 8000, which fits
   * 128Mi: raise `memory` with it. Lowering it ends no session.
   */
  maxConnectionsTotal?: pulumi.Input<number>;
  /**
   * What moves the bytes: `auto`, `native` or `js`. Default `auto`: the native one where the image has it. JavaScript
   * takes several times the CPU for the same bytes; `native` refuses to start without it.
   */
  dataPlane?: pulumi.Input<DataPlane>;
  /**
   * How long a session whose one side has ended may go on without a byte either way, 1s to 168h. Default `1h`: longer
   * than any answer takes to work out, and short enough that a forgotten one doesn't keep the target awake, and paid
   * for, for days.
   */
  halfCloseLinger?: pulumi.Input<string>;
  /**
   * How long one side of a session may take nothing of what the other has sent, 1s to 168h. Default `1h`: a person may
   * pause a download for a meal. Until then the session keeps the target awake and paid for.
   */
  stallLimit?: pulumi.Input<string>;

  /**
   * How long the platform lets an old replica live after it was told to stop, in whole seconds, 5-900. Default 90, the
   * platform's own. Set it to the longest transfer that a rollout must not cut. An old replica is paid for until its
   * sessions have ended. Changing it rolls the proxy, and this once the old replica has its old grace.
   */
  terminationGracePeriodSeconds?: pulumi.Input<number>;
  /**
   * How long a proxy that was told to stop waits for its sessions before it ends them, 1ms to 1h and within the grace.
   * Default: the grace less the 15 s that the platform's own shutdown takes (`75s`), or half of a short grace.
   */
  drainTimeout?: pulumi.Input<string>;

  /**
   * The proxy's image. Default: the one released with this version of the package, as both halves have to agree on the
   * settings. A mirror of it may be named here, best by the same tag.
   */
  image?: pulumi.Input<string>;
  /**
   * CPU of the proxy, as the platform writes it, at least `25m`. Default `100m`, which docs/performance.md has figures
   * for. It is paid for round the clock.
   */
  cpu?: pulumi.Input<string>;
  /**
   * Memory of the proxy, as the platform writes it, at least `32Mi`. Default `128Mi`, for the default limits of
   * clients. It is paid for round the clock. Too little of it ends all sessions at once when it runs out.
   */
  memory?: pulumi.Input<string>;
  /**
   * Replicas of the proxy. Default 1, and anything else is refused until replicas know of each other's clients: one
   * would suspend the target under another's.
   */
  replicas?: pulumi.Input<number>;
  /**
   * The port of `/healthz` and `/readyz`, 80-65535 without the reserved ones and those listened on. Default 8081.
   * Nothing but the platform's probes reaches it.
   */
  healthPort?: pulumi.Input<number>;
  /**
   * Whether the health port is declared to the platform, so that whoever the internal firewall lets in (see
   * `allowWorkloads`) can read `/healthz`. Default false: it tells which targets there are and how many are connected.
   * It is never on the load balancer.
   */
  exposeHealth?: pulumi.Input<boolean>;
  /**
   * Further environment variables of the proxy's container. Default: none. The settings' own names can't be among
   * them.
   */
  env?: pulumi.Input<{ [key: string]: pulumi.Input<string> }>;

  /**
   * Whether a preview looks at the target and the GVC as the platform has them, and says what won't work. Default
   * true: it costs two reads of the API. False where the token that runs previews may not view them. Changing it
   * changes nothing that runs.
   */
  preflight?: pulumi.Input<boolean>;

  /**
   * Whether a destroy of the component un-suspends the target, after the proxy is gone. Default false: it is left as
   * it is. For Node.js programs alone, and not an Output; whoever destroys needs `CPLN_TOKEN` in the environment and
   * `edit` on the target, and a failure there fails the destroy. It costs a running target from then on. Changing it
   * changes nothing that runs.
   */
  wakeOnDestroy?: boolean;

  /**
   * The name of the proxy workload, 3-49 characters. Default: the component's name and `-proxy`, cut with a hash where
   * it is too long. Changing it replaces the proxy and its address, and ends its sessions.
   */
  workloadName?: pulumi.Input<string>;
  /**
   * The name of the identity, 3-63 characters. Default: the component's name and `-proxy`, as the workload's. Changing
   * it replaces the identity and rolls the proxy onto the new one.
   */
  identityName?: pulumi.Input<string>;
  /**
   * The name of the policy, 3-63 characters, unique in the organisation. Default: the component's name, `-proxy-` and
   * the GVC, because policies of all GVCs stand side by side. Changing it replaces the policy; sessions don't notice.
   */
  policyName?: pulumi.Input<string>;
  /** Tags of everything that the component makes. Default: none. Changing them ends no session. */
  tags?: pulumi.Input<{ [key: string]: pulumi.Input<string> }>;
}
