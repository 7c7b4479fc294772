import { createHash } from "node:crypto";
import type { LocationSpec } from "../spec.ts";
import type { Command } from "./events.ts";
import { type Generation, isAvailable, isLive, isReady, type LocationState, type Replica } from "./state.ts";
import { terminate } from "./terminate.ts";

/** Moves one step towards what the document says, as far as what is there now allows. */
export function reconcile(state: LocationState, now: number, commands: Command[]): void {
  const { spec } = state;
  if (spec === undefined || spec.suspended || spec.replicas === 0) {
    // The generation ends here: an un-suspend during its grace starts another one, and does not save this one.
    state.generation = undefined;
    for (const replica of state.replicas.filter(isLive)) terminate(replica, now, commands);
    return;
  }
  const generation = currentGeneration(state, spec, now);
  if (spec.type === "stateful") rollInPlace(state, spec, generation, now, commands);
  else rollOver(state, spec, generation, now, commands);
  lookAgainWhenAvailable(state, now, commands);
}

function currentGeneration(state: LocationState, spec: LocationSpec, now: number): Generation {
  const current = state.generation;
  if (current !== undefined && current.template === spec.template) return current;
  state.generations += 1;
  state.generation = {
    number: state.generations,
    template: spec.template,
    workloadVersion: state.expectedVersion,
    createdAt: now,
  };
  return state.generation;
}

/** Interchangeable replicas: new ones within the surge, old ones ended as far as enough stay available. */
function rollOver(
  state: LocationState,
  spec: LocationSpec,
  generation: Generation,
  now: number,
  commands: Command[],
): void {
  const isNew = (replica: Replica) => replica.generation === generation.number;
  const live = () => state.replicas.filter(isLive);
  const excess = live().filter(isNew).slice(spec.replicas);
  for (const replica of excess) terminate(replica, now, commands);

  const available = () => live().filter((replica) => isAvailable(replica, now)).length;
  const old = live().filter((replica) => !isNew(replica));
  // One that serves nobody costs nothing, so those go first.
  for (const replica of [...old].sort((a, b) => Number(isReady(a)) - Number(isReady(b)))) {
    const left = available() - (isAvailable(replica, now) ? 1 : 0);
    if (left >= spec.replicas - spec.unavailable || !isReady(replica)) {
      terminate(replica, now, commands);
    }
  }

  // Without surge and without anything that may be missing, a roll-out could never begin.
  const cap = spec.replicas + Math.max(spec.surge, spec.unavailable === 0 ? 1 : 0);
  while (live().filter(isNew).length < spec.replicas && live().length < cap) {
    create(state, spec, generation, state.serial, now, commands);
  }
}

/** Replicas with an identity: the one before it must be gone, processes included, before its successor starts. */
function rollInPlace(
  state: LocationState,
  spec: LocationSpec,
  generation: Generation,
  now: number,
  commands: Command[],
): void {
  const live = () => state.replicas.filter(isLive);
  for (const replica of live().filter((item) => item.index >= spec.replicas)) {
    terminate(replica, now, commands);
  }
  const outdated = live()
    .filter((replica) => replica.generation !== generation.number)
    .sort((a, b) => b.index - a.index);
  const othersReady = live().every((item) => isAvailable(item, now) || outdated.includes(item));
  const next = outdated[0];
  const nobodyOnTheWayOut = live().length === spec.replicas;
  if (next !== undefined && ((othersReady && nobodyOnTheWayOut) || !isReady(next))) {
    terminate(next, now, commands);
  }
  for (let index = 0; index < spec.replicas; index += 1) {
    const present = state.replicas.find((item) => item.index === index);
    if (present === undefined) create(state, spec, generation, index, now, commands);
    const settled = state.replicas.find((item) => item.index === index);
    if (spec.ordered && (settled === undefined || !isReady(settled))) return;
  }
}

function create(
  state: LocationState,
  spec: LocationSpec,
  generation: Generation,
  index: number,
  now: number,
  commands: Command[],
): void {
  const serial = state.serial;
  state.serial += 1;
  const name =
    spec.type === "stateful" ? `${state.workload}-${index}` : standardName(state, generation, serial);
  const id = String(serial);
  state.replicas.push({
    id,
    name,
    index,
    generation: generation.number,
    workloadVersion: generation.workloadVersion,
    template: generation.template,
    spec,
    phase: "booting",
    createdAt: now,
    containers: spec.containers.map((container) => ({
      name: container.name,
      phase: "waiting",
      ready: false,
      restarts: 0,
    })),
    closedPorts: [],
  });
  commands.push({ type: "boot", replica: id });
}

/** Like a ReplicaSet's: a hash of the template, then five letters that no other replica of it has. */
function standardName(state: LocationState, generation: Generation, serial: number): string {
  const seed = `${state.location}/${generation.number}/${serial}`;
  const suffix = createHash("sha256").update(seed).digest("hex").slice(0, 5);
  return `${state.workload}-${generation.template.slice(0, 10)}-${suffix}`;
}

function lookAgainWhenAvailable(state: LocationState, now: number, commands: Command[]): void {
  for (const replica of state.replicas) {
    if (!isReady(replica) || isAvailable(replica, now)) continue;
    const delayMs = (replica.readySince ?? now) + replica.spec.minReadyMs - now;
    commands.push({ type: "after", delayMs, event: { type: "look-again" } });
  }
}
