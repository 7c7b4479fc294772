import { beginGeneration, distrust, endGeneration, giveUp } from "./generation";
import { forget } from "./on-read";
import { enter } from "./phases";
import { worsen } from "./trouble";
import type { Turn } from "./turn";
import type { CallFailure, KnownWorkload, TargetState } from "./types";

/** Failures after which the write may have been applied, now or later. */
const UNKNOWN_OUTCOME: ReadonlySet<CallFailure["kind"]> = new Set(["server", "timeout", "broken"]);

export function onWritten(turn: Turn, version: number | undefined): void {
  const { state, now } = turn;
  const write = state.write;
  state.write = undefined;
  if (!write) return;
  if (state.writeTrouble) turn.note({ event: "api_recovered", afterMs: now - state.writeTrouble.since });
  state.writeTrouble = undefined;
  state.writtenAt = now;
  const known = state.workload;
  if (known) {
    const next = known.version + 1;
    // Somebody else has written in between, or may have.
    if (version !== next) state.readWanted = true;
    state.workload = {
      ...known,
      suspended: write.suspend,
      version: Math.max(version ?? next, known.version),
      versionGuessed: version === undefined,
    };
  }
  if (write.suspend) suspended(turn, write.sentAt);
  else unsuspended(turn, version, known);
}

function suspended(turn: Turn, sentAt: number): void {
  const { state, now } = turn;
  overrule(state);
  endGeneration(turn);
  enter(state, "suspended");
  turn.note({ event: "suspended", tookMs: now - sentAt });
}

function unsuspended(turn: Turn, version: number | undefined, known: KnownWorkload | undefined): void {
  const { state } = turn;
  // The next version after one that ran: nothing was written in between. Else a lost suspend may have landed just
  // before, whatever was proved since it was given up.
  const uninterrupted = known && !known.suspended && version === known.version + 1;
  if (state.doubt?.lostSuspend === "open" && !uninterrupted) distrust(turn);
  overrule(state);
  if (state.phase === "waking") {
    beginGeneration(turn, version);
    state.generation.woken = true;
    enter(state, "starting");
  } else {
    // Proved while the call was in flight, or sent only to overrule.
    state.generation = { ...state.generation, version, deploymentReady: false };
  }
}

/** A suspend that was lost before carries a version that is no longer the newest. The reads that follow still follow. */
function overrule(state: TargetState): void {
  if (state.doubt?.lostSuspend === "open") state.doubt = { ...state.doubt, lostSuspend: "overruled" };
}

export function onWriteFailed(turn: Turn, failure: CallFailure): void {
  const { state } = turn;
  const write = state.write;
  state.write = undefined;
  if (!write) return;
  if (write.suspend && failure.kind === "invalid" && state.versioned && write.versioned) {
    // This platform does not take a version in the body: without it from now on.
    state.versioned = false;
    undecide(turn, write.phaseBefore);
    turn.note({ event: "version_not_accepted" });
    return;
  }
  const earlier = state.writeTrouble?.suspend === write.suspend ? state.writeTrouble : undefined;
  state.writeTrouble = { ...worsen(turn, earlier, failure), suspend: write.suspend };
  turn.note({
    event: "write_failed",
    suspend: write.suspend,
    kind: failure.kind,
    message: failure.message,
    retryInMs: state.writeTrouble.delayMs,
  });

  if (failure.kind === "missing") forget(turn, "target_missing");
  else if (UNKNOWN_OUTCOME.has(failure.kind)) outcomeUnknown(turn, write, failure);
  else if (write.suspend) undecide(turn, write.phaseBefore);
  else if (failure.kind === "quota" && state.phase === "waking") overQuota(turn, failure);
}

function outcomeUnknown(turn: Turn, write: NonNullable<TargetState["write"]>, failure: CallFailure): void {
  const { state } = turn;
  const { doubt } = state;
  state.doubt = {
    suspend: write.suspend,
    // An un-suspend that lands late changes nothing of what reads agree on.
    seenSince: write.suspend || doubt?.suspend ? undefined : doubt?.seenSince,
    lostSuspend: write.suspend ? "open" : (doubt?.lostSuspend ?? "none"),
  };
  state.readWanted = true;
  turn.note({ event: "outcome_unknown", suspend: write.suspend, kind: failure.kind });
  if (!write.suspend) return;
  // It may have landed: from here on only proof that outlives a suspend counts. The gate stays closed.
  endGeneration(turn);
}

/**
 * A suspend that was surely not applied: the target is as it was, and its ports are as proved as before. Unless a
 * read has meanwhile shown that the target is gone.
 */
function undecide(turn: Turn, phaseBefore: TargetState["phase"]): void {
  const { state } = turn;
  if (state.phase === "suspending") enter(state, phaseBefore);
  state.readWanted = true;
}

function overQuota(turn: Turn, failure: CallFailure): void {
  const { state, now } = turn;
  const message = failure.message;
  giveUp(turn);
  state.failure = { reason: "quota", message, at: now };
  turn.note({
    event: "target_failed",
    reason: "quota",
    message,
    failedGenerations: state.failedGenerations,
  });
}
