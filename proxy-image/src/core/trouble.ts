import {
  QUOTA_RETRY_MS,
  RETRY_AFTER_CAP_MS,
  RETRY_CAP_HELD_MS,
  RETRY_CAP_MS,
  RETRY_FIRST_MS,
  TOKEN_REFILL_MS,
  TOKENS,
  TROUBLED_READ_MS,
} from "./limits";
import { held } from "./state";
import type { Turn } from "./turn";
import type { CallFailure, TargetState, Trouble } from "./types";

/** Adds a failure to a run of them and takes a token. */
export function worsen(turn: Turn, trouble: Trouble | undefined, failure: CallFailure): Trouble {
  takeToken(turn.state, turn.now);
  const failures = (trouble?.failures ?? 0) + 1;
  return {
    since: trouble?.since ?? turn.now,
    failures,
    failure,
    at: turn.now,
    delayMs: turn.jitter(delayAfter(failures, failure)),
    notBefore:
      failure.retryAfterMs === undefined ? 0 : turn.now + Math.min(failure.retryAfterMs, RETRY_AFTER_CAP_MS),
  };
}

function delayAfter(failures: number, failure: CallFailure): number {
  if (failure.kind === "quota") return QUOTA_RETRY_MS;
  return Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), RETRY_CAP_MS);
}

/**
 * When the next try may be made. The token bucket bounds what a storm of clients can cause; but while somebody is
 * held no wait is longer than the cap, so that the first client after a fix is served soon.
 */
export function retryAt(state: TargetState, trouble: Trouble): number {
  const urgent = held(state) > 0 && trouble.failure.kind !== "quota";
  const wait = Math.max(trouble.at + trouble.delayMs, tokenAt(state));
  return Math.max(urgent ? Math.min(wait, trouble.at + RETRY_CAP_HELD_MS) : wait, trouble.notBefore);
}

/** Reads go on while nobody is held, but slowly. */
export function readRetryAt(state: TargetState, trouble: Trouble): number {
  if (held(state) > 0) return retryAt(state, trouble);
  return Math.max(trouble.at + TROUBLED_READ_MS, trouble.notBefore);
}

function takeToken(state: TargetState, now: number): void {
  refill(state, now);
  state.tokens.left = Math.max(0, state.tokens.left - 1);
}

function refill(state: TargetState, now: number): void {
  const earned = Math.floor((now - state.tokens.at) / TOKEN_REFILL_MS);
  if (earned <= 0) return;
  const left = state.tokens.left + earned;
  state.tokens =
    left >= TOKENS ? { left: TOKENS, at: now } : { left, at: state.tokens.at + earned * TOKEN_REFILL_MS };
}

/** When a token is there: now, if the bucket holds one. */
function tokenAt(state: TargetState): number {
  return state.tokens.left > 0 ? 0 : state.tokens.at + TOKEN_REFILL_MS;
}
