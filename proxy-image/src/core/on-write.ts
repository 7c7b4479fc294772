import { beginGeneration, endGeneration, giveUp } from "./generation";
import { forget } from "./on-read";
import { enter } from "./phases";
import { held } from "./state";
import { worsen } from "./trouble";
import type { Turn } from "./turn";
import type { CallFailure, TargetState } from "./types";

/** Failures after which the write may have been applied, now or later. */
const UNKNOWN_OUTCOME: ReadonlySet<CallFailure["kind"]> = new Set(["server", "timeout", "broken"]);

export function onWritten(turn: Turn, version: number | undefined): void {
  const { state, now } = turn;
  const write = state.write;
  state.write = undefined;
  if (!write) return;
  if (state.writeTrouble) turn.note({ event: "api_recovered", afterMs: now - state.writeTrouble.since });
  state.writeTrouble = undefined;
  if (state.workload) {
    state.workload = {
      ...state.workload,
      suspended: write.suspend,
      version: Math.max(version ?? 0, state.workload.version),
    };
  }
  if (write.suspend) suspended(turn, write.sentAt);
  else unsuspended(turn, version);
}

function suspended(turn: Turn, sentAt: number): void {
  const { state, now } = turn;
  state.suspendedAt = now;
  state.doubt = undefined;
  endGeneration(turn);
  enter(state, "suspended");
  turn.note({ event: "suspended", tookMs: now - sentAt });
}

function unsuspended(turn: Turn, version: number | undefined): void {
  const { state } = turn;
  if (state.phase === "waking") {
    beginGeneration(turn, version);
    enter(state, "starting");
  } else {
    // Proved while the call was in flight.
    state.generation.version = version;
  }
}

export function onWriteFailed(turn: Turn, failure: CallFailure): void {
  const { state } = turn;
  const write = state.write;
  state.write = undefined;
  if (!write) return;
  if (write.suspend && failure.kind === "invalid" && state.versioned && write.versioned) {
    // This platform does not take a version in the body: without it from now on.
    state.versioned = false;
    enter(state, write.phaseBefore);
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
  else if (write.suspend) refusedSuspend(turn, write.phaseBefore);
  else if (failure.kind === "quota") overQuota(turn, failure);
}

function outcomeUnknown(turn: Turn, write: NonNullable<TargetState["write"]>, failure: CallFailure): void {
  const { state, now } = turn;
  state.doubt = { suspend: write.suspend, seenSince: undefined };
  state.readWanted = true;
  turn.note({ event: "outcome_unknown", suspend: write.suspend, kind: failure.kind });
  if (!write.suspend) return;
  // It may have landed: from here on only proof that outlives a suspend counts. The gate stays closed.
  state.suspendedAt = now;
  endGeneration(turn);
}

/** Surely not applied: the target is as it was, and its ports are as proved as before. */
function refusedSuspend(turn: Turn, phaseBefore: TargetState["phase"]): void {
  enter(turn.state, phaseBefore);
  turn.state.readWanted = true;
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
  if (held(state) > 0) turn.emit({ type: "drop", reason: "quota", message });
}
