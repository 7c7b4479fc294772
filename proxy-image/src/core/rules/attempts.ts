import { ATTEMPT_RETRY_CAP_MS, ATTEMPT_RETRY_FIRST_MS } from "../limits";
import { waiting } from "../state";
import type { Turn } from "../turn";
import { turningAway } from "./failure";

/**
 * Bounds each wake attempt. The end of an attempt ends nobody's hold: with clients waiting the next one begins
 * after a pause, and a read in between tells whether the target has to be un-suspended again.
 */
export function attempts(turn: Turn): void {
  const { state, config, now } = turn;
  if (state.phase !== "waking" && state.phase !== "starting") {
    state.attempt = undefined;
    return;
  }
  const { attempt } = state;
  if (attempt && attempt.nextAt === undefined) {
    if (!turn.due(attempt.startedAt + config.wakeTimeoutMs)) return;
    const pause = Math.min(ATTEMPT_RETRY_FIRST_MS * 2 ** (attempt.number - 1), ATTEMPT_RETRY_CAP_MS);
    state.attempt = { ...attempt, nextAt: now + turn.jitter(pause) };
    state.readWanted = true;
    turn.note({ event: "wake_timeout", attempt: attempt.number, afterMs: now - attempt.startedAt });
  }
  if (waiting(state) === 0 || turningAway(turn)) return;
  if (state.attempt?.nextAt !== undefined && !turn.due(state.attempt.nextAt)) return;
  state.attempt = { number: (state.attempt?.number ?? 0) + 1, startedAt: now, nextAt: undefined };
  turn.due(now + config.wakeTimeoutMs);
}
