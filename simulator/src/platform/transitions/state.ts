import type { Failure } from "../failures.ts";
import type { LocationSpec } from "../spec.ts";

/** One workload in one location. Plain data; changed only by `step`. */
export interface LocationState {
  workload: string;
  location: string;
  /** What the document says now; absent before the first write and after deletion. */
  spec: LocationSpec | undefined;
  /** The version that the platform is working towards, and the last one that it has looked at. */
  expectedVersion: number;
  processedVersion: number;
  /** When the document was last looked at. */
  processedAt: number;
  /** How often the location's own options went from not suspended to suspended. */
  localSuspends: number;
  /** The newest generation; older ones live on as numbers in the replicas that still drain. */
  generation: Generation | undefined;
  generations: number;
  /** In order of creation; gone ones are removed. */
  replicas: Replica[];
  /** Counts replicas ever made. */
  serial: number;
}

/** The replicas that one un-suspend, or one roll-out of a changed template, brings up. */
export interface Generation {
  number: number;
  template: string;
  workloadVersion: number;
  createdAt: number;
}

export type ReplicaPhase =
  /** Cannot be started: quota, image pull, no node, no secret. */
  | "blocked"
  /** Scheduled, pulling, booting. */
  | "booting"
  /** Its containers were started, whatever became of them. */
  | "up"
  /** preStop and then the stop signal, within the grace period; it may still answer. */
  | "terminating"
  /** Everything of it is being killed. */
  | "killed";

export interface Replica {
  /** Never used again, unlike the name of a stateful workload's replica. */
  id: string;
  name: string;
  index: number;
  generation: number;
  workloadVersion: number;
  template: string;
  /** The specification that it was made from: a later document does not change a running replica. */
  spec: LocationSpec;
  phase: ReplicaPhase;
  createdAt: number;
  blockedBy?: Failure;
  containers: ContainerState[];
  /** When all its containers became ready; absent while they are not. */
  readySince?: number;
  /** Ports that a boot has not opened yet. */
  closedPorts: number[];
  terminatingSince?: number;
  graceEndsAt?: number;
}

export type ContainerPhase = "waiting" | "running" | "backing-off" | "stopped";

export interface ContainerState {
  name: string;
  phase: ContainerPhase;
  ready: boolean;
  restarts: number;
  reason?: string;
  exitCode?: number;
  lastRestartAt?: number;
}

export function newLocation(workload: string, location: string): LocationState {
  return {
    workload,
    location,
    spec: undefined,
    expectedVersion: 0,
    processedVersion: 0,
    processedAt: 0,
    localSuspends: 0,
    generation: undefined,
    generations: 0,
    replicas: [],
    serial: 0,
  };
}

/** Neither terminating nor killed: what counts towards the wanted number. */
export function isLive(replica: Replica): boolean {
  return replica.phase === "blocked" || replica.phase === "booting" || replica.phase === "up";
}

export function isReady(replica: Replica): boolean {
  return replica.phase === "up" && replica.readySince !== undefined;
}

/** Ready, and for `minReadySeconds`: what lets a roll-out go on. */
export function isAvailable(replica: Replica, now: number): boolean {
  return isReady(replica) && now - (replica.readySince ?? now) >= replica.spec.minReadyMs;
}

/** Whether a container behind this replica still takes connections. */
export function answers(replica: Replica): boolean {
  return isReady(replica) || (replica.phase === "terminating" && replica.readySince !== undefined);
}
