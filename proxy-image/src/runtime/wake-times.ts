import type { Condition } from "../core/describe";
import type { Clock } from "./clock";

/** Of MAX_HOLD. A wake that takes this much of it is one bad day away from dropping its clients. */
const NEAR = 0.8;

export interface SlowWake {
  tookMs: number;
  maxHoldMs: number;
}

/** How long wakes take that clients wait for, against how long they are held. */
export class WakeTimes {
  private readonly maxHoldMs: number;
  private readonly clock: Clock;
  private begunAt: number | undefined;
  private someExpired = false;
  private slow: (SlowWake & { saidAt: number }) | undefined;

  constructor(maxHoldMs: number, clock: Clock) {
    this.maxHoldMs = maxHoldMs;
    this.clock = clock;
  }

  /** Counted from here over all of a wake's attempts, since its clients are held over all of them. */
  began(): void {
    this.begunAt = this.clock.now();
    this.someExpired = false;
  }

  /** A hold has ended without a session. */
  expired(): void {
    this.someExpired = true;
  }

  /**
   * The target has answered; `attemptMs` is what core says of the last attempt. A wake that nobody waited for to the
   * end is probed seldom, so that its time says little: it counts only where it has outlasted a hold.
   */
  ready(attemptMs: number, held: number): SlowWake | undefined {
    const now = this.clock.now();
    const tookMs = Math.max(attemptMs, this.begunAt === undefined ? 0 : now - this.begunAt);
    const counts = held > 0 || this.someExpired;
    this.begunAt = undefined;
    this.someExpired = false;
    if (!counts) return undefined;
    const { maxHoldMs } = this;
    const isSlow = tookMs > NEAR * maxHoldMs;
    this.slow = isSlow ? { tookMs, maxHoldMs, saidAt: now } : undefined;
    return isSlow ? { tookMs, maxHoldMs } : undefined;
  }

  /** Stands until a wake has been quick again. */
  conditions(): Condition[] {
    if (!this.slow) return [];
    const { tookMs, maxHoldMs, saidAt } = this.slow;
    const reason = `the last wake took ${tookMs} ms, of ${maxHoldMs} ms that a client is held`;
    const forMs = this.clock.now() - saidAt;
    return [{ type: "wake_near_max_hold", reason, forMs, nextTryInMs: undefined }];
  }
}
