import { FAILURE_RETRY_CAP_MS, FAILURE_RETRY_FIRST_MS } from "../limits";
import { held } from "../state";
import { retryAt } from "../trouble";
import type { Turn } from "../turn";

/**
 * A client that comes while the platform reports a failure is told at once, until it is time to try again; then it
 * waits for how that try goes.
 */
export function turnAway(turn: Turn): void {
  const { failure } = turn.state;
  if (!failure || !turningAway(turn)) return;
  turn.emit({ type: "drop", reason: failure.reason, message: failure.message });
}

/** Whoever is held now is about to go, so nothing is done for them. */
export function turningAway(turn: Turn): boolean {
  return held(turn.state) > 0 && failing(turn) && !turn.due(failureRetryAt(turn));
}

/** The target failed, and it is not yet time to try again. */
export function failing(turn: Turn): boolean {
  return turn.state.failure !== undefined && turn.now < failureRetryAt(turn);
}

/** When a target that failed is worth another try. */
export function failureRetryAt(turn: Turn): number {
  const { failure, failedGenerations, writeTrouble } = turn.state;
  if (!failure) return Number.NEGATIVE_INFINITY;
  if (writeTrouble?.failure.kind === "quota" && !writeTrouble.suspend)
    return retryAt(turn.state, writeTrouble);
  const doublings = Math.max(0, failedGenerations - 1);
  return failure.at + Math.min(FAILURE_RETRY_FIRST_MS * 2 ** doublings, FAILURE_RETRY_CAP_MS);
}
