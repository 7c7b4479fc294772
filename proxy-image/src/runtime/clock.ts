/** Everything that waits, waits on this, so that tests can drive time. */
export interface Clock {
  /** Milliseconds that only ever go forward; no relation to the time of day. */
  now(): number;
  /** The time of day, for people. */
  wall(): number;
  /** Calls back once after `ms`; the result cancels. */
  timer(ms: number, callback: () => void): () => void;
}

/** The longest that Node's timers can wait; a longer wait fires early and is set anew by whoever asked. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  // `performance` would be loaded for it, at a thirtieth of what a start costs.
  now: () => process.uptime() * 1_000,
  wall: () => Date.now(),
  timer: (ms, callback) => {
    const handle = setTimeout(callback, Math.min(Math.max(0, Math.ceil(ms)), LONGEST_MS));
    return () => clearTimeout(handle);
  },
};
