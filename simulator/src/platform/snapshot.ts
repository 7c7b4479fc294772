import type { ResourceKey } from "../model.ts";
import type { ConnectionFilter, RecordedConnection, Recorder } from "../network/recorder.ts";
import { replicaMessage, replicaReason } from "./status/deployments.ts";
import { suspendedStatus } from "./status/workload-status.ts";
import { answers, type ContainerPhase, isReady, type ReplicaPhase } from "./transitions/state.ts";
import type { WorkloadRuntime } from "./workload.ts";

/** A workload at one moment, for tests to wait on and people to look at. */
export interface WorkloadSnapshot {
  key: ResourceKey;
  /** The document's version; `undefined` where there is no document. */
  version: number | undefined;
  suspendedStatus: "notSuspended" | "partiallySuspended" | "suspended";
  /** The newest generation a location has had, and how many it has had. */
  locations: { name: string; generation: number | undefined; generations: number }[];
  /** Over all locations, oldest first, draining ones included. */
  replicas: ReplicaSnapshot[];
  ready: number;
  draining: number;
  /** Connections that reached its mesh addresses and load balancers. */
  connections(filter?: ConnectionFilter): RecordedConnection[];
}

export interface ReplicaSnapshot {
  name: string;
  location: string;
  index: number;
  generation: number;
  phase: ReplicaPhase;
  ready: boolean;
  /** Also true for a draining replica that still takes connections. */
  answering: boolean;
  address: string | undefined;
  pids: number[];
  closedPorts: number[];
  containers: { name: string; phase: ContainerPhase; ready: boolean }[];
  restarts: number;
  reason: string | undefined;
  message: string;
}

export function snapshotOf(
  key: ResourceKey,
  workload: WorkloadRuntime | undefined,
  recorder: Recorder,
): WorkloadSnapshot {
  const places = [...(workload?.locations.values() ?? [])];
  const replicas = places.flatMap((place) =>
    place.state.replicas.map((replica): ReplicaSnapshot => {
      const running = place.running(replica);
      return {
        name: replica.name,
        location: place.name,
        index: replica.index,
        generation: replica.generation,
        phase: replica.phase,
        ready: isReady(replica),
        answering: answers(replica),
        address: running?.address,
        pids: running?.pids ?? [],
        closedPorts: replica.closedPorts,
        containers: replica.containers.map(({ name, phase, ready }) => ({ name, phase, ready })),
        restarts: replica.containers.reduce((sum, item) => sum + item.restarts, 0),
        reason: replicaReason(replica),
        message: replicaMessage(replica),
      };
    }),
  );
  return {
    key,
    version: workload?.phase === "live" ? workload.document.version : undefined,
    suspendedStatus: suspendedStatus(places.map(({ state }) => state)),
    locations: places.map(({ name, state }) => ({
      name,
      generation: state.generation?.number,
      generations: state.generations,
    })),
    replicas,
    ready: replicas.filter((item) => item.ready).length,
    draining: replicas.filter((item) => item.phase === "terminating").length,
    connections: (filter) => recorder.of(key, filter),
  };
}
