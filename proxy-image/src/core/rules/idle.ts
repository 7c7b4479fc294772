import { OWN_GRACE_MARGIN_MS } from "../../../../src/contract/drain";
import { giveUp, idleHoldMs } from "../generation";
import { DECISION_READ_MAX_AGE_MS, STARTING_LIMIT_MS } from "../limits";
import { enter } from "../phases";
import { demand } from "../state";
import { retryAt } from "../trouble";
import type { Turn } from "../turn";
import { abandonSuspend, heldBack, send } from "./wake";

/**
 * Suspends a target that nobody has used for the idle-hold. The decision is taken on a read made for it, and the
 * gate closes in the same step: whoever arrives from then on waits.
 */
export function idleDown(turn: Turn): void {
  const { state } = turn;
  if (state.write) return;
  if (state.phase === "suspending") {
    retry(turn);
    return;
  }
  if (demand(state) > 0) return;
  const since = idleSince(turn);
  if (since === undefined || vetoed(turn)) return;
  const dueAt = Math.max(since + idleHoldMs(turn), firstSuspendAt(turn));
  if (!turn.due(dueAt) || !mayWrite(turn)) return;
  if (!freshRead(turn, dueAt)) {
    turn.decisionRead = true;
    return;
  }
  const idleMs = turn.now - since;
  send(turn, true);
  enter(state, "suspending");
  turn.note({ event: "suspend", idleMs });
}

/** From when the target counts as idle; undefined while it does not. */
function idleSince(turn: Turn): number | undefined {
  const { state } = turn;
  const { generation } = state;
  const lastLeftAt = state.lastLeftAt ?? Number.NEGATIVE_INFINITY;
  if (state.phase === "awake" && generation.readyAt !== undefined)
    return Math.max(generation.readyAt, lastLeftAt);
  if (state.phase !== "starting") return undefined;
  if (generation.gaveUpAt === undefined) {
    if (!turn.due(generation.since + STARTING_LIMIT_MS)) return undefined;
    giveUp(turn);
    turn.note({ event: "never_ready", afterMs: turn.now - generation.since });
  }
  return generation.gaveUpAt === undefined ? undefined : Math.max(generation.gaveUpAt, lastLeftAt);
}

/** The replica that this proxy replaces may still be draining sessions through the target. */
function firstSuspendAt(turn: Turn): number {
  const { idleHoldMs: hold, ownGraceMs } = turn.config;
  const drained = ownGraceMs === undefined ? 0 : ownGraceMs + OWN_GRACE_MARGIN_MS;
  return turn.state.startedAt + Math.max(hold, drained);
}

function vetoed(turn: Turn): boolean {
  return turn.state.lifecycle === "draining" || turn.state.workload?.mode === "always-on" || heldBack(turn);
}

function mayWrite(turn: Turn): boolean {
  const { writeTrouble } = turn.state;
  return !writeTrouble?.suspend || turn.due(retryAt(turn.state, writeTrouble));
}

/** A read made since the suspend became due, and after the latest one that failed: its version may be why. */
function freshRead(turn: Turn, dueAt: number): boolean {
  const { workload, writeTrouble } = turn.state;
  if (!workload) return false;
  const failedAt = writeTrouble?.suspend ? writeTrouble.at : Number.NEGATIVE_INFINITY;
  const { readAt } = workload;
  return readAt >= dueAt && readAt > failedAt && turn.now - readAt <= DECISION_READ_MAX_AGE_MS;
}

/** The outcome of a suspend is unknown and still wanted: once a read shows that it did not land, it is sent again. */
function retry(turn: Turn): void {
  if (!freshRead(turn, Number.NEGATIVE_INFINITY)) return;
  if (vetoed(turn)) abandonSuspend(turn);
  else if (demand(turn.state) === 0 && mayWrite(turn)) send(turn, true);
}
