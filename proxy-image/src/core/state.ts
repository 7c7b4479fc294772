import { TOKENS } from "./limits";
import type { PortState, TargetConfig, TargetState } from "./types";

export function initialState(config: TargetConfig, now: number): TargetState {
  return {
    phase: "unknown",
    startedAt: now,
    lifecycle: "serving",
    ports: config.ports.map(newPort),
    generation: newGeneration(0, now, undefined),
    failedGenerations: 0,
    failure: undefined,
    suspendedAt: undefined,
    drainedAt: undefined,
    lastLeftAt: undefined,
    workload: undefined,
    missed: undefined,
    write: undefined,
    read: undefined,
    status: undefined,
    statusReadAt: undefined,
    statusFailed: false,
    writtenAt: undefined,
    readAt: undefined,
    readWanted: false,
    doubt: undefined,
    readTrouble: undefined,
    writeTrouble: undefined,
    tokens: { left: TOKENS, at: now },
    attempt: undefined,
    foreign: { undoneAt: undefined, obeyUntil: undefined },
    versioned: true,
  };
}

function newPort(port: number): PortState {
  return {
    port,
    waiting: 0,
    connecting: 0,
    spliced: 0,
    lane: 0,
    proved: false,
    nobodyAt: undefined,
    answeredAt: undefined,
    looks: [],
    probedAt: undefined,
    turnedDownSince: undefined,
    extraLooks: 0,
    boots: [],
    bootOf: undefined,
    mute: false,
    mutedAt: undefined,
  };
}

export function newGeneration(
  number: number,
  since: number,
  version: number | undefined,
): TargetState["generation"] {
  return {
    number,
    since,
    woken: false,
    readyAt: undefined,
    version,
    deploymentReady: false,
    gaveUpAt: undefined,
  };
}

/** A copy deep enough for one step to change: everything that steps change in place is copied. */
export function copyState(state: TargetState): TargetState {
  return {
    ...state,
    ports: state.ports.map((port) => ({ ...port })),
    generation: { ...state.generation },
    tokens: { ...state.tokens },
    foreign: { ...state.foreign },
  };
}

export function portOf(state: TargetState, port: number): PortState {
  const found = state.ports.find((candidate) => candidate.port === port);
  if (!found) throw new Error(`port ${port} is not one of this target's`);
  return found;
}

/** Clients that are accepted and not spliced. */
export function held(state: TargetState): number {
  return state.ports.reduce((sum, port) => sum + port.waiting + port.connecting, 0);
}

export function waiting(state: TargetState): number {
  return state.ports.reduce((sum, port) => sum + port.waiting, 0);
}

/** Held and spliced: who needs the target. */
export function demand(state: TargetState): number {
  return state.ports.reduce(
    (sum, port) => sum + port.waiting + port.connecting + port.spliced + port.lane,
    0,
  );
}
