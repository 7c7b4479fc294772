import type { ImageCatalogue } from "../images/catalogue.ts";
import type { Clock, ResourceKey, Store } from "../model.ts";

/** What the mesh does with a connection that no replica can take. The first is what was seen on the platform. */
export type MuteBehaviour = "silent" | "close" | "reset" | "refuse";

/**
 * Every point that the platform's sources leave open. Defaults are the strict side: the one that a client which
 * hopes for the best gets wrong. All may be changed while the platform runs.
 */
export interface PlatformSwitches {
  /** A connection to a workload without a ready replica. `silent` ones stay mute for ever, also after a boot. */
  suspendedMesh: MuteBehaviour;
  /** Whether a terminating replica takes new mesh connections while nothing newer is ready. */
  draining: "until-grace-end" | "withdrawn";
  /** What a container gets after its preStop: sources disagree. */
  stopSignal: "SIGINT" | "SIGTERM";
  /** Deployments and status blocks are answered as they were this long ago (0–60 s). */
  statusLagMs: number;
  /** Whether a write that flips `suspend` alone moves `expectedDeploymentVersion`. */
  suspendMovesVersion: boolean;
  /** What `status.ready` of a suspended deployment says. */
  suspendedReady: boolean;
  /** Whether a draining replica that still answers is counted in `replicasReady` of its version. */
  drainingReplicas: "counted" | "listed";
  /** Mesh callers that are no replica of this simulator (a test's own 127.0.0.1). */
  unknownCallers: "deny" | "allow";
  /** How a firewall says no. */
  denied: "reset" | "silent";
  /** A direct load balancer without a replica to give. */
  loadBalancerEmpty: "reset" | "silent" | "refuse";
  /** The peer address that a container sees: the client's own, or its sidecar's 127.0.0.6. */
  loadBalancerPeer: "client" | "sidecar";
  meshPeer: "client" | "sidecar";
  /** Relayed connections without a byte for this long are cut, as the mesh is said to do after an hour. */
  silenceCutMs: number | undefined;
  /**
   * A location whose own `localOptions[].suspend` went on, off and on again is not known to other locations any
   * more until the workload is made anew.
   */
  localSuspendTrap: boolean;
  /** From a write to the platform acting on it. */
  reactionMs: number;
  /** A firewall change takes this long to be enforced (30–150 s were measured). */
  firewallLagMs: number;
  /** The load balancer goes on giving connections to a terminating replica for this long, within its grace. */
  withdrawalMs: number;
}

export const strictSwitches: PlatformSwitches = {
  suspendedMesh: "silent",
  draining: "until-grace-end",
  stopSignal: "SIGINT",
  statusLagMs: 0,
  suspendMovesVersion: true,
  suspendedReady: true,
  drainingReplicas: "counted",
  unknownCallers: "deny",
  denied: "reset",
  loadBalancerEmpty: "reset",
  loadBalancerPeer: "client",
  meshPeer: "sidecar",
  silenceCutMs: undefined,
  localSuspendTrap: true,
  reactionMs: 0,
  firewallLagMs: 0,
  withdrawalMs: 10_000,
};

export interface PlatformOptions {
  store: Store;
  clock: Clock;
  /** The API's own URL, for `CPLN_ENDPOINT`; asked for late, because the port is known late. */
  apiUrl: () => string;
  images: ImageCatalogue;
  switches?: Partial<PlatformSwitches>;
  /** Replaces every workload's `terminationGracePeriodSeconds`. */
  graceMs?: number;
  /** From a replica's creation to its processes starting; without it, what its images say. */
  bootMs?: number;
  /** Multiplies the initial delay and the period of probes, never their timeouts. */
  probeTimeScale?: number;
  /** First pause of a crash loop; it doubles up to 300 s. */
  crashBackoffMs?: number;
  /** No workload gets more replicas than this in one location. */
  maxReplicas?: number;
  /** Whether a container's `memory` is enforced where the machine allows. */
  memoryLimits?: "enforce" | "off";
  /** A fixed local port for a load balancer's port, where a person wants one; else a free one is taken. */
  loadBalancerPort?: (key: ResourceKey, externalPort: number, location: string) => number | undefined;
  /** Whether a workload's identity may reveal a secret that its environment names. */
  mayReveal?: (workload: ResourceKey, secret: string) => boolean;
  /** Every line that a container writes, and what the platform has to say about it. */
  onLog?: (line: LogLine) => void;
}

export interface LogLine {
  workload: ResourceKey;
  location: string;
  replica: string;
  container: string;
  stream: "stdout" | "stderr" | "platform";
  text: string;
}
