import { beginGeneration, endGeneration } from "../generation";
import { enter } from "../phases";
import { demand } from "../state";
import { retryAt } from "../trouble";
import type { Turn } from "../turn";
import type { TargetState } from "../types";
import { turningAway } from "./failure";

/** Un-suspends while anybody needs the target: one write at a time, the latest intent wins. */
export function wake(turn: Turn): void {
  const { state } = turn;
  if (state.write) return;
  if (demand(state) === 0) {
    // An un-suspend that was never accepted is not wanted any more. One that may have landed is read first.
    if (state.phase === "waking" && !state.doubt) {
      state.attempt = undefined;
      enter(state, state.workload ? "suspended" : "unknown");
    }
    return;
  }
  if (turningAway(turn) || heldBack(turn)) return;
  if (needsWake(state)) begin(turn);
  else if (!mustOverrule(state)) return;
  const { writeTrouble } = state;
  if (writeTrouble && !writeTrouble.suspend && !turn.due(retryAt(state, writeTrouble))) return;
  send(turn, false);
}

function begin(turn: Turn): void {
  const { state } = turn;
  if (state.foreign.obeyUntil !== undefined) {
    // Obeyed for long enough. Undoing it now counts like undoing it then.
    state.foreign = { undoneAt: turn.now, obeyUntil: undefined };
    turn.note({ event: "foreign_suspend_undone" });
  }
  if (state.phase !== "waking") {
    if (state.phase === "suspending") turn.note({ event: "suspend_cancelled" });
    enter(state, "waking");
    state.attempt = { number: 1, startedAt: turn.now, nextAt: undefined };
    turn.note({ event: "wake", generation: state.generation.number + 1 });
  }
}

/**
 * A suspend of unknown outcome may still land, whatever reads say so far. An un-suspend accepted after it raises the
 * version, so that it can't.
 */
function mustOverrule(state: TargetState): boolean {
  return state.doubt?.lostSuspend === "open" && (state.phase === "starting" || state.phase === "awake");
}

/** Somebody else decides over this target for now. */
export function heldBack(turn: Turn): boolean {
  const { workload, foreign } = turn.state;
  if (workload?.mode === "paused" || workload?.otherScaler !== undefined) return true;
  return foreign.obeyUntil !== undefined && !turn.due(foreign.obeyUntil);
}

function needsWake(state: TargetState): boolean {
  if (state.phase === "suspended" || state.phase === "waking" || state.phase === "suspending") return true;
  // Nothing is known of the workload because it can't be read. Where a client waits and nobody answers on any port,
  // an un-suspend is right whatever the state is.
  return (
    state.phase === "unknown" &&
    state.readTrouble !== undefined &&
    state.readTrouble.failure.kind !== "missing" &&
    state.ports.every((port) => !port.proved) &&
    state.ports.some((port) => port.waiting > 0 && port.nobodyAt !== undefined)
  );
}

/** Sends a write. Reads under way from before it say nothing any more. */
export function send(turn: Turn, suspend: boolean): void {
  const { state, now } = turn;
  const version = suspend && state.versioned ? state.workload?.version : undefined;
  state.write = { suspend, versioned: version !== undefined, sentAt: now, phaseBefore: state.phase };
  if (state.read) state.read = { ...state.read, stale: true };
  if (state.doubt && state.doubt.suspend !== suspend) {
    state.doubt = { ...state.doubt, suspend, seenSince: undefined };
  }
  turn.emit({ type: "write", suspend, version });
}

/** A suspend given up for good after an unknown outcome: whatever runs now has to prove itself again. */
export function abandonSuspend(turn: Turn): void {
  endGeneration(turn);
  beginGeneration(turn, undefined);
  turn.state.doubt = { suspend: false, seenSince: undefined, lostSuspend: "open" };
  enter(turn.state, "starting");
}
