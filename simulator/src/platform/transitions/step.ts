import type { LocationSpec } from "../spec.ts";
import { backoffMs, exited, restarted } from "./crash.ts";
import type { Command, PlatformEvent } from "./events.ts";
import { reconcile } from "./reconcile.ts";
import { type ContainerState, isLive, type LocationState, type Replica } from "./state.ts";
import { kill, terminate } from "./terminate.ts";

export interface Rules {
  crashBackoffMs: number;
}

export interface Step {
  state: LocationState;
  commands: Command[];
}

/** One event, then everything that the platform does about it by itself. The state given is left as it was. */
export function step(before: LocationState, event: PlatformEvent, now: number, rules: Rules): Step {
  const state = structuredClone(before);
  const commands: Command[] = [];
  apply(state, event, now, rules, commands);
  reconcile(state, now, commands);
  return { state, commands };
}

function apply(
  state: LocationState,
  event: PlatformEvent,
  now: number,
  rules: Rules,
  commands: Command[],
): void {
  switch (event.type) {
    case "wanted":
      state.processedAt = now;
      wanted(state, event.spec, event.suspendMovesVersion);
      return;
    case "deleted":
      state.spec = undefined;
      return;
    case "unblocked":
      for (const replica of state.replicas.filter((item) => item.phase === "blocked")) {
        replica.phase = "booting";
        delete replica.blockedBy;
        commands.push({ type: "boot", replica: replica.id });
      }
      return;
    case "look-again":
      return;
    default:
      applyToReplica(state, event, now, rules, commands);
  }
}

type ReplicaEvent = Extract<PlatformEvent, { replica: string }>;

function applyToReplica(
  state: LocationState,
  event: ReplicaEvent,
  now: number,
  rules: Rules,
  commands: Command[],
): void {
  const replica = state.replicas.find((item) => item.id === event.replica);
  if (replica === undefined) return;
  switch (event.type) {
    case "booted":
      if (replica.phase !== "booting") return;
      replica.phase = "up";
      replica.closedPorts = [...event.closedPorts];
      for (const { name } of replica.containers) {
        commands.push({ type: "start", replica: replica.id, container: name });
      }
      return;
    case "boot-failed":
      if (replica.phase !== "booting") return;
      replica.phase = "blocked";
      replica.blockedBy = event.failure;
      return;
    case "port-opened":
      replica.closedPorts = replica.closedPorts.filter((port) => port !== event.port);
      return;
    case "grace-over":
      if (replica.phase === "terminating") kill(replica, commands);
      return;
    case "released":
      state.replicas = state.replicas.filter((item) => item !== replica);
      return;
    case "stop-replica":
      if (isLive(replica)) terminate(replica, now, commands);
      return;
    case "kill-replica":
      if (replica.phase !== "killed") kill(replica, commands);
      return;
    default:
      applyToContainer(replica, event, now, rules, commands);
  }
}

type ContainerEvent = Extract<ReplicaEvent, { container: string }>;

function applyToContainer(
  replica: Replica,
  event: ContainerEvent,
  now: number,
  rules: Rules,
  commands: Command[],
): void {
  const container = replica.containers.find((item) => item.name === event.container);
  const hasContainers = replica.phase === "up" || replica.phase === "terminating";
  if (container === undefined || !hasContainers) return;
  switch (event.type) {
    case "container-started":
      if (container.phase !== "waiting") return;
      container.phase = "running";
      setReady(replica, container, !event.hasReadiness, now);
      return;
    case "container-ready":
      if (container.phase !== "running") return;
      setReady(replica, container, event.ready, now);
      return;
    case "container-exited":
      exited(replica, container, event);
      setReady(replica, container, false, now);
      if (container.phase === "backing-off") {
        const delayMs = backoffMs(container.restarts, rules.crashBackoffMs);
        const over = { type: "backoff-over", replica: replica.id, container: container.name } as const;
        commands.push({ type: "after", delayMs, event: over });
      } else if (replica.containers.every((item) => item.phase === "stopped")) {
        kill(replica, commands);
      }
      return;
    case "backoff-over":
      if (container.phase !== "backing-off" || replica.phase !== "up") return;
      restarted(container, now);
      commands.push({ type: "start", replica: replica.id, container: container.name });
      return;
    case "pre-stop-done":
      if (replica.phase !== "terminating") return;
      // As documented: a preStop that is missing or fails, in any container, costs all of them their grace.
      if (!event.ok) {
        kill(replica, commands);
        return;
      }
      if (container.phase === "running") {
        commands.push({ type: "signal", replica: replica.id, container: container.name });
      }
      return;
  }
}

function setReady(replica: Replica, container: ContainerState, ready: boolean, now: number): void {
  container.ready = ready;
  const all = replica.containers.every((item) => item.ready);
  if (all && replica.readySince === undefined) replica.readySince = now;
  if (!all) delete replica.readySince;
}

function wanted(state: LocationState, spec: LocationSpec, suspendMovesVersion: boolean): void {
  const before = state.spec;
  const onlySuspend =
    before !== undefined &&
    before.template === spec.template &&
    before.replicas === spec.replicas &&
    before.suspended !== spec.suspended;
  if (suspendMovesVersion || !onlySuspend) state.expectedVersion = spec.workloadVersion;
  state.processedVersion = spec.workloadVersion;
  if (spec.suspendedLocally && before?.suspendedLocally !== true) state.localSuspends += 1;
  state.spec = spec;
  // A write that changes no template rolls nothing: what runs simply goes by the newer version from now on.
  // What a suspend is about to end keeps the version that it was made by.
  const { generation } = state;
  const goesOn = !spec.suspended && spec.replicas > 0 && generation?.template === spec.template;
  if (generation !== undefined && goesOn) {
    generation.workloadVersion = state.expectedVersion;
    for (const replica of state.replicas) {
      if (replica.generation === generation.number && isLive(replica)) {
        replica.workloadVersion = state.expectedVersion;
      }
    }
  }
}
