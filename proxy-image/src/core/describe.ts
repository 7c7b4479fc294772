import { held, waiting as waitingClients } from "./state";
import { readRetryAt, retryAt } from "./trouble";
import type { Mode, Phase, TargetState, Trouble } from "./types";

/** Something about a target that an operator should know, with what happens next. */
export interface Condition {
  type:
    | "reads_failing"
    | "writes_failing"
    | "outcome_unknown"
    | "target_failing"
    | "target_silent"
    | "wake_near_max_hold"
    | "paused"
    | "always_on"
    | "other_scaler"
    | "foreign_suspend_obeyed";
  reason: string;
  /** Age in milliseconds, where it is known. */
  forMs: number | undefined;
  /** Milliseconds until the proxy tries again, where it will. */
  nextTryInMs: number | undefined;
}

export interface TargetReport {
  phase: Phase;
  held: number;
  spliced: number;
  wakeInProgress: boolean;
  generation: number;
  mode: Mode;
  conditions: Condition[];
}

/** What the health endpoint says of a target. */
export function describe(state: TargetState, now: number): TargetReport {
  return {
    phase: state.phase,
    held: held(state),
    spliced: state.ports.reduce((sum, port) => sum + port.spliced, 0),
    wakeInProgress: state.phase === "waking" || (state.phase === "starting" && waitingClients(state) > 0),
    generation: state.generation.number,
    mode: state.workload?.mode ?? "normal",
    conditions: conditions(state, now),
  };
}

function conditions(state: TargetState, now: number): Condition[] {
  const found: Condition[] = [];
  const add = (type: Condition["type"], reason: string, forMs?: number, nextTryInMs?: number) =>
    found.push({ type, reason, forMs, nextTryInMs });
  const addTrouble = (type: Condition["type"], { failure, since }: Trouble, retryAt: number) =>
    add(type, `${failure.kind}: ${failure.message}`, now - since, Math.max(0, retryAt - now));

  const { readTrouble, writeTrouble } = state;
  if (readTrouble) addTrouble("reads_failing", readTrouble, readRetryAt(state, readTrouble));
  if (writeTrouble) addTrouble("writes_failing", writeTrouble, retryAt(state, writeTrouble));
  if (state.doubt && state.doubt.seenSince === undefined) {
    add("outcome_unknown", state.doubt.suspend ? "suspend" : "un-suspend");
  }
  if (state.failure) {
    add("target_failing", `${state.failure.reason}: ${state.failure.message}`, now - state.failure.at);
  }
  if (state.workload?.mode === "paused") add("paused", "tag scale-to-zero/mode=paused");
  if (state.workload?.mode === "always-on") add("always_on", "tag scale-to-zero/mode=always-on");
  if (state.workload?.otherScaler) add("other_scaler", state.workload.otherScaler);
  const { obeyUntil } = state.foreign;
  if (obeyUntil !== undefined && obeyUntil > now) {
    add("foreign_suspend_obeyed", "suspended twice by somebody else", undefined, obeyUntil - now);
  }
  return found;
}
