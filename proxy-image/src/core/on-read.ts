import { becomeReady, beginGeneration, endGeneration } from "./generation";
import { FOREIGN_UNDO_MS } from "./limits";
import { enter } from "./phases";
import { demand } from "./state";
import { worsen } from "./trouble";
import type { Turn } from "./turn";
import type { CallFailure, WorkloadSnapshot } from "./types";

export function onRead(turn: Turn, snapshot: WorkloadSnapshot): void {
  const { state, now } = turn;
  const read = state.read;
  state.read = undefined;
  if (state.readTrouble) turn.note({ event: "api_recovered", afterMs: now - state.readTrouble.since });
  state.readTrouble = undefined;

  const known = state.workload;
  const older = known !== undefined && known.id === snapshot.id && snapshot.version < known.version;
  if (!read || read.stale || older) {
    // A write has begun since, or the platform answered from an older copy: ask again.
    state.readWanted = true;
    return;
  }

  if (known && known.id !== snapshot.id) forget(turn, "target_recreated");
  if (known?.mode !== snapshot.mode && (known || snapshot.mode !== "normal")) {
    turn.note({ event: "mode_changed", mode: snapshot.mode });
  }
  if (snapshot.otherScaler && known?.otherScaler !== snapshot.otherScaler) {
    turn.note({ event: "other_scaler", scaler: snapshot.otherScaler });
  }
  state.workload = { ...snapshot, readAt: read.sentAt };

  if (snapshot.suspended) seenSuspended(turn);
  else seenRunning(turn);
  settleDoubt(turn, snapshot.suspended);
}

function seenSuspended(turn: Turn): void {
  const { state, now } = turn;
  switch (state.phase) {
    case "suspended":
    case "waking":
      return;
    case "suspending":
      // A suspend whose outcome was unknown has landed.
      state.suspendedAt = now;
      enter(state, "suspended");
      return;
    case "unknown":
      state.suspendedAt = now;
      endGeneration(turn);
      enter(state, "suspended");
      return;
    default: {
      const own = state.doubt?.suspend === false;
      state.suspendedAt = now;
      endGeneration(turn);
      enter(state, "suspended");
      // Our own suspend, given up as unknown, landed after the un-suspend that followed it.
      if (own) turn.note({ event: "late_suspend_undone" });
      else foreignSuspend(turn);
    }
  }
}

/** Undone under clients, but only so often: a person who does it twice means it. */
function foreignSuspend(turn: Turn): void {
  const { state, now } = turn;
  if (demand(state) === 0) return;
  const { undoneAt } = state.foreign;
  if (undoneAt !== undefined && now - undoneAt < FOREIGN_UNDO_MS) {
    state.foreign.obeyUntil = now + FOREIGN_UNDO_MS;
    turn.note({ event: "foreign_suspend_obeyed", untilMs: FOREIGN_UNDO_MS });
  } else {
    state.foreign.undoneAt = now;
    turn.note({ event: "foreign_suspend_undone" });
  }
}

function seenRunning(turn: Turn): void {
  const { state } = turn;
  state.foreign.obeyUntil = undefined;
  switch (state.phase) {
    case "unknown": {
      beginGeneration(turn, undefined);
      const proved = state.ports.some((port) => port.proved);
      enter(state, proved ? "awake" : "starting");
      if (proved) becomeReady(turn);
      return;
    }
    case "suspended":
      turn.note({ event: "foreign_wake" });
      beginGeneration(turn, undefined);
      enter(state, "starting");
      return;
    case "waking":
      // Somebody else's un-suspend, or our own whose answer was lost.
      beginGeneration(turn, undefined);
      enter(state, "starting");
      return;
    default:
      return;
  }
}

/**
 * Reads that agree for long enough end the doubt about a write's outcome. One that disagrees starts it anew, or
 * ends it where nobody pursues that write any more: what is seen then is simply how things are.
 */
function settleDoubt(turn: Turn, suspended: boolean): void {
  const { state, now } = turn;
  if (!state.doubt) return;
  const { suspend, seenSince } = state.doubt;
  const pursued = suspend ? state.phase === "suspending" : demand(state) > 0;
  if (suspend === suspended) state.doubt = { suspend, seenSince: seenSince ?? now };
  else state.doubt = pursued ? { suspend, seenSince: undefined } : undefined;
}

/** What was known belongs to a workload that is gone. */
export function forget(turn: Turn, event: "target_missing" | "target_recreated"): void {
  const { state } = turn;
  turn.note({ event });
  endGeneration(turn);
  state.workload = undefined;
  state.suspendedAt = undefined;
  state.doubt = undefined;
  state.foreign = { undoneAt: undefined, obeyUntil: undefined };
  state.failedGenerations = 0;
  state.failure = undefined;
  enter(state, "unknown");
}

export function onReadFailed(turn: Turn, failure: CallFailure): void {
  const { state } = turn;
  state.read = undefined;
  state.readTrouble = worsen(turn, state.readTrouble, failure);
  turn.note({
    event: "read_failed",
    kind: failure.kind,
    message: failure.message,
    retryInMs: state.readTrouble.delayMs,
  });
  if (failure.kind === "missing" && state.workload) forget(turn, "target_missing");
}
