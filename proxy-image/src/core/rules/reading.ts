import { doubtfulUntil } from "../evidence";
import {
  DOUBT_READ_MS,
  IDLE_WATCH_FACTOR,
  READ_SPACING_MS,
  STATUS_EVIDENCE_MS,
  STATUS_FAILURE_MS,
} from "../limits";
import { demand, waiting } from "../state";
import { readRetryAt } from "../trouble";
import type { Turn } from "../turn";
import { failureRetryAt } from "./failure";

/** Watches the workload: a foreign hand may suspend, wake, pause, delete or re-create it at any time. */
export function reading(turn: Turn): void {
  const { state, now } = turn;
  if (state.read || state.write || !turn.due(nextReadAt(turn))) return;
  state.read = { sentAt: now, stale: false };
  state.readAt = now;
  state.readWanted = false;
  turn.emit({ type: "read" });
  turn.due(nextReadAt(turn));
}

function nextReadAt(turn: Turn): number {
  const { state, config } = turn;
  const { readTrouble } = state;
  if (readTrouble) return readRetryAt(state, readTrouble);
  if (state.readAt === undefined) return Number.NEGATIVE_INFINITY;
  if (turn.decisionRead || state.readWanted) return state.readAt + READ_SPACING_MS;
  if (state.doubt) return state.readAt + DOUBT_READ_MS;
  return state.readAt + config.watchIntervalMs * (demand(state) > 0 ? 1 : IDLE_WATCH_FACTOR);
}

/**
 * Reads the deployment's status while somebody waits: close to a suspend as evidence of the new generation, later
 * only for what the platform says went wrong.
 */
export function statusReading(turn: Turn): void {
  const { state, now } = turn;
  if (state.status || waiting(state) === 0) return;
  if (state.phase !== "starting" && state.phase !== "awake") return;
  const asEvidence = now < doubtfulUntil(state) && !state.generation.deploymentReady;
  if (!asEvidence && state.phase === "awake") return;
  const spacing = asEvidence && !state.statusFailed ? STATUS_EVIDENCE_MS : STATUS_FAILURE_MS;
  const last = state.statusReadAt ?? Number.NEGATIVE_INFINITY;
  const first = asEvidence ? Number.NEGATIVE_INFINITY : state.generation.since + STATUS_FAILURE_MS;
  if (!turn.due(Math.max(last + spacing, first, failureRetryAt(turn)))) return;
  state.status = { sentAt: now };
  turn.emit({ type: "read-status" });
}
