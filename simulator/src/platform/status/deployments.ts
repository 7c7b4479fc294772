import type { JsonObject } from "../../model.ts";
import { failureMessage, failureReason } from "../failures.ts";
import type { PlatformSwitches } from "../settings.ts";
import { bytes, type LocationSpec } from "../spec.ts";
import { answers, isLive, isReady, type LocationState, type Replica } from "../transitions/state.ts";

export interface DeploymentFacts {
  endpoint: string;
  remote: string;
  lastModified: string;
}

/** `GET …/deployment/{location}` without its links. */
export function deploymentDocument(
  state: LocationState,
  facts: DeploymentFacts,
  switches: PlatformSwitches,
): JsonObject {
  const versions = versionsOf(state, switches);
  const spec = state.spec;
  const live = state.replicas.filter(isLive);
  const ready = deploymentReady(state, switches);
  const message = live.map(replicaMessage).find((text) => text !== "") ?? "";
  const settled =
    spec === undefined || spec.suspended || spec.replicas === 0
      ? state.replicas.length === 0
      : live.filter(isReady).length >= spec.replicas && live.length === state.replicas.length;
  return {
    name: state.location,
    kind: "deployment",
    lastModified: facts.lastModified,
    status: {
      endpoint: facts.endpoint,
      remote: facts.remote,
      lastProcessedVersion: state.processedVersion,
      expectedDeploymentVersion: state.expectedVersion,
      internal: {},
      ready,
      deploying: !settled,
      message,
      versions,
      jobExecutions: [],
    },
  };
}

function deploymentReady(state: LocationState, switches: PlatformSwitches): boolean {
  const { spec } = state;
  if (spec === undefined) return false;
  if (spec.suspended) return switches.suspendedReady;
  if (spec.replicas === 0) return false;
  return currentReplicas(state).filter(isReady).length >= spec.replicas;
}

function currentReplicas(state: LocationState): Replica[] {
  return state.replicas.filter((item) => item.generation === state.generation?.number);
}

/** One entry a workload version that still has replicas, newest first, and the expected one in any case. */
function versionsOf(state: LocationState, switches: PlatformSwitches): JsonObject[] {
  const numbers = new Set([state.expectedVersion, ...state.replicas.map((item) => item.workloadVersion)]);
  return [...numbers]
    .sort((a, b) => b - a)
    .flatMap((version) => {
      const replicas = state.replicas.filter((item) => item.workloadVersion === version);
      const spec = replicas.at(-1)?.spec ?? (version === state.expectedVersion ? state.spec : undefined);
      return spec === undefined ? [] : [versionEntry(state, version, replicas, spec, switches)];
    });
}

function versionEntry(
  state: LocationState,
  version: number,
  replicas: Replica[],
  spec: LocationSpec,
  switches: PlatformSwitches,
): JsonObject {
  const present = replicas.filter((item) => item.blockedBy?.kind !== "quota");
  const counted = replicas.filter(switches.drainingReplicas === "counted" ? answers : isReady).length;
  const wanted = version === state.expectedVersion ? wantedReplicas(state) : 0;
  const ready =
    wanted === 0 && version === state.expectedVersion
      ? deploymentReady(state, switches)
      : counted >= wanted && counted > 0;
  const message = replicas.map(replicaMessage).find((text) => text !== "") ?? "";
  const created = replicas[0]?.createdAt ?? state.generation?.createdAt ?? state.processedAt;
  return {
    name: `${state.workload}-${spec.template}`,
    created: new Date(created).toISOString(),
    workload: version,
    gvc: spec.gvcVersion,
    ready,
    message,
    zone: `${state.location}a`,
    containers: Object.fromEntries(
      spec.containers.map((container) => {
        const states = replicas.flatMap((item) =>
          item.containers.filter(({ name }) => name === container.name),
        );
        const worst = states.reduce<(typeof states)[number] | undefined>(
          (most, item) => (most === undefined || item.restarts > most.restarts ? item : most),
          undefined,
        );
        return [
          container.name,
          {
            name: container.name,
            image: container.image,
            ready,
            message,
            resources: {
              replicas: present.length,
              replicasReady: counted,
              memory: bytesToMebi(container.memoryBytes),
            },
            restarts: {
              count: states.reduce((sum, item) => sum + item.restarts, 0),
              ...(worst?.reason === undefined ? {} : { reason: worst.reason }),
              ...(worst?.exitCode === undefined ? {} : { exitCode: worst.exitCode }),
              ...(worst?.lastRestartAt === undefined
                ? {}
                : { lastRestartTime: new Date(worst.lastRestartAt).toISOString() }),
            },
          },
        ];
      }),
    ),
  };
}

function wantedReplicas(state: LocationState): number {
  return state.spec === undefined || state.spec.suspended ? 0 : state.spec.replicas;
}

function bytesToMebi(value: number): number {
  return Math.round(value / bytes("1Mi"));
}

/** What is wrong with one replica, in the platform's words; empty where nothing is. */
export function replicaMessage(replica: Replica): string {
  const first = replica.spec.containers[0] ?? { name: "main", image: "" };
  if (replica.blockedBy !== undefined) return failureMessage(replica.blockedBy, first);
  const crashing = replica.containers.find((item) => item.phase === "backing-off");
  if (crashing === undefined) return "";
  const spec = replica.spec.containers.find((item) => item.name === crashing.name) ?? first;
  const last = `last exit: ${crashing.reason ?? "Error"} (${crashing.exitCode ?? 1})`;
  return `${failureMessage({ kind: "crash-loop" }, spec)}; ${last}`;
}

/** The short word for it, as in a pod listing. */
export function replicaReason(replica: Replica): string | undefined {
  if (replica.blockedBy !== undefined) return failureReason(replica.blockedBy);
  return replica.containers.some((item) => item.phase === "backing-off") ? "CrashLoopBackOff" : undefined;
}
