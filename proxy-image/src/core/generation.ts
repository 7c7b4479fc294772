import { DEFAULT_GRACE_MS, FAILED_GENERATIONS_LIMIT, GRACE_MARGIN_MS } from "./limits";
import { enter } from "./phases";
import { newGeneration } from "./state";
import type { Turn } from "./turn";
import type { Evidence, PortState } from "./types";

/** A new generation has begun: un-suspended by this proxy, or seen to be. */
export function beginGeneration(turn: Turn, version: number | undefined): void {
  const { state, now } = turn;
  state.generation = newGeneration(state.generation.number + 1, now, version);
  for (const port of state.ports) port.extraLooks = 0;
}

/** The replicas are ending from now on, or may be: whatever was known of them proves nothing any more. */
export function distrust(turn: Turn): void {
  const { state, now } = turn;
  state.suspendedAt = now;
  state.generation.version = undefined;
  state.generation.deploymentReady = false;
  allowForDraining(turn);
  for (const port of state.ports) {
    port.proved = false;
    port.nobodyAt = undefined;
    port.answeredAt = undefined;
    port.turnedDownSince = undefined;
    port.mute = false;
    // Clients whose connections are still mute lose nothing by being taken back.
    if (port.connecting > 0) turn.emit({ type: "recall", port: port.port, begunBefore: now + 1 });
  }
}

/** Replicas that the latest suspend ends may answer for the termination grace, as far as it is known. */
export function allowForDraining(turn: Turn): void {
  const { state } = turn;
  if (state.suspendedAt === undefined) return;
  const gone = state.suspendedAt + (state.workload?.graceMs ?? DEFAULT_GRACE_MS) + GRACE_MARGIN_MS;
  state.drainedAt = Math.max(state.drainedAt ?? gone, gone);
}

/** The current generation is over, or may be. */
export function endGeneration(turn: Turn): void {
  const { state } = turn;
  distrust(turn);
  state.generation = newGeneration(state.generation.number, state.generation.since, undefined);
  state.attempt = undefined;
}

export function provePort(turn: Turn, port: PortState, evidence: Evidence): void {
  const { state, now } = turn;
  port.proved = true;
  if (state.phase !== "suspended" && state.phase !== "waking" && state.phase !== "starting") return;
  if (state.phase !== "starting") {
    // Nobody un-suspended it as far as this proxy knows: the next read tells. One under way may be from before.
    beginGeneration(turn, undefined);
    if (state.read) state.read = { ...state.read, stale: true };
    state.readWanted = true;
  }
  enter(state, "awake");
  becomeReady(turn);
  turn.note({
    event: "ready",
    generation: state.generation.number,
    port: port.port,
    tookMs: now - (state.attempt?.startedAt ?? state.generation.since),
    evidence,
  });
  state.attempt = undefined;
}

/** The idle clock counts from here: a target can't be idle before it could be used. */
export function becomeReady(turn: Turn): void {
  const { state, now } = turn;
  state.generation.readyAt = now;
  state.generation.gaveUpAt = undefined;
  state.failedGenerations = 0;
  state.failure = undefined;
}

/** The current generation is not expected to become ready. Counted once a generation. */
export function giveUp(turn: Turn): void {
  const { state, now } = turn;
  if (state.generation.gaveUpAt !== undefined) return;
  state.generation.gaveUpAt = now;
  state.failedGenerations += 1;
}

/** After repeated failures keeping the target up only costs money. */
export function idleHoldMs(turn: Turn): number {
  return turn.state.failedGenerations >= FAILED_GENERATIONS_LIMIT ? 0 : turn.config.idleHoldMs;
}
