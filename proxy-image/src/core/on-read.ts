import { allowForDraining, becomeReady, beginGeneration, distrust, endGeneration } from "./generation";
import { DOUBT_SETTLED_MS, FOREIGN_UNDO_MS } from "./limits";
import { enter } from "./phases";
import { heldBack } from "./rules/wake";
import { demand } from "./state";
import { worsen } from "./trouble";
import type { Turn } from "./turn";
import type { CallFailure, KnownWorkload, TargetState, WorkloadSnapshot } from "./types";

export function onRead(turn: Turn, snapshot: WorkloadSnapshot): void {
  const { state, now } = turn;
  const read = state.read;
  state.read = undefined;
  if (state.readTrouble) turn.note({ event: "api_recovered", afterMs: now - state.readTrouble.since });
  state.readTrouble = undefined;

  const known = state.workload;
  const newest = known ?? state.missed;
  if (!read || read.stale || (newest && isOlder(turn, newest, snapshot))) {
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
  state.workload = { ...snapshot, readAt: read.sentAt, versionGuessed: false };
  state.missed = undefined;
  allowForDraining(turn);

  if (snapshot.suspended) seenSuspended(turn, known);
  else {
    if (known && known.id === snapshot.id) overruled(turn, snapshot.version - known.version);
    seenRunning(turn, snapshot.version);
  }
  settleDoubt(turn, snapshot.suspended, read.sentAt);
}

/**
 * The workload runs, and has been written since it was known. One write was not the lost suspend, which can't land
 * any more: the version that it carries is no longer the newest. Of several, one may have been it, and is undone.
 */
function overruled(turn: Turn, writes: number): void {
  const { state } = turn;
  if (state.doubt?.lostSuspend !== "open" || writes === 0 || !state.versioned) return;
  if (writes > 1) distrust(turn);
  state.doubt = { ...state.doubt, lostSuspend: "overruled" };
}

/** Whether the platform answered from a copy older than what is known, such as the answer to this proxy's write. */
function isOlder(turn: Turn, known: KnownWorkload, snapshot: WorkloadSnapshot): boolean {
  if (known.id !== snapshot.id || snapshot.version > known.version) return false;
  // What is guessed is the least that it can be: a version just as high, but otherwise, is somebody's from before.
  if (snapshot.version === known.version && !(known.versionGuessed && snapshot.suspended !== known.suspended))
    return false;
  // A guess is no reason to disbelieve a platform for ever that counts otherwise.
  const writtenAt = turn.state.writtenAt ?? Number.NEGATIVE_INFINITY;
  return !known.versionGuessed || turn.now - writtenAt < DOUBT_SETTLED_MS;
}

function seenSuspended(turn: Turn, known: TargetState["workload"]): void {
  const { state } = turn;
  const isNew = !known?.suspended || known.version !== state.workload?.version;
  switch (state.phase) {
    case "suspended":
    case "waking":
      // Suspended anew since the last look, by whomever: the replicas in between may still answer.
      if (isNew) distrust(turn);
      return;
    case "suspending":
      // A suspend whose outcome was unknown has landed.
      distrust(turn);
      enter(state, "suspended");
      return;
    case "unknown":
      endGeneration(turn);
      enter(state, "suspended");
      return;
    default: {
      const doubt = state.doubt?.suspend === false ? state.doubt : undefined;
      endGeneration(turn);
      enter(state, "suspended");
      // Our own suspend, given up as unknown, landed after the un-suspend that followed it.
      if (doubt && doubt.lostSuspend !== "none") turn.note({ event: "late_suspend_undone" });
      // An un-suspend never seen to land is nobody's suspend, nor is one that was known before a port was proved.
      else if ((!doubt || doubt.seenSince !== undefined) && isNew) foreignSuspend(turn);
    }
  }
}

/** Undone under clients, but only so often: a person who does it twice means it. */
function foreignSuspend(turn: Turn): void {
  const { state, now } = turn;
  if (demand(state) === 0 || heldBack(turn)) return;
  const { undoneAt } = state.foreign;
  if (undoneAt !== undefined && now - undoneAt < FOREIGN_UNDO_MS) {
    state.foreign.obeyUntil = now + FOREIGN_UNDO_MS;
    turn.note({ event: "foreign_suspend_obeyed", untilMs: FOREIGN_UNDO_MS });
  } else {
    state.foreign.undoneAt = now;
    turn.note({ event: "foreign_suspend_undone" });
  }
}

function seenRunning(turn: Turn, version: number): void {
  const { state } = turn;
  state.foreign.obeyUntil = undefined;
  switch (state.phase) {
    case "unknown": {
      beginGeneration(turn, version);
      const proved = state.ports.some((port) => port.proved);
      enter(state, proved ? "awake" : "starting");
      if (proved) becomeReady(turn);
      return;
    }
    case "suspended":
      turn.note({ event: "foreign_wake" });
      beginGeneration(turn, version);
      enter(state, "starting");
      return;
    case "waking":
      // Somebody else's un-suspend, or our own whose answer was lost.
      beginGeneration(turn, version);
      enter(state, "starting");
      return;
    case "starting":
    case "awake":
      // The un-suspend's answer held no version.
      state.generation.version ??= version;
      return;
    default:
      return;
  }
}

/**
 * Reads that agree for long enough end the doubt about a write's outcome. One that disagrees starts it anew, or
 * ends it where nobody pursues that write any more: what is seen then is simply how things are.
 */
function settleDoubt(turn: Turn, suspended: boolean, sentAt: number): void {
  const { state } = turn;
  const { doubt } = state;
  if (!doubt) return;
  // A suspend that was lost has been found.
  const lostSuspend = suspended ? "none" : doubt.lostSuspend;
  if (doubt.suspend === suspended) {
    const seenSince = doubt.seenSince ?? sentAt;
    state.doubt = sentAt - seenSince >= DOUBT_SETTLED_MS ? undefined : { ...doubt, seenSince, lostSuspend };
  } else {
    const pursued = doubt.suspend ? state.phase === "suspending" : demand(state) > 0;
    if (pursued) state.doubt = { ...doubt, seenSince: undefined, lostSuspend };
    // Not wanted any more, but it may land all the same.
    else
      state.doubt = lostSuspend === "open" ? { suspend: false, seenSince: sentAt, lostSuspend } : undefined;
  }
}

/** What was known belongs to a workload that is gone; its replicas end as after a suspend. */
export function forget(turn: Turn, event: "target_missing" | "target_recreated"): void {
  const { state } = turn;
  turn.note({ event });
  endGeneration(turn);
  if (event === "target_missing") state.missed = state.workload ?? state.missed;
  state.workload = undefined;
  // A target that is only said to be missing may yet meet a suspend that was lost.
  if (event === "target_recreated") state.doubt = undefined;
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
