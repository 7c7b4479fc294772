import type { Clock } from "../../proxy-image/src/runtime/clock.ts";

interface Timer {
  at: number;
  order: number;
  callback: () => void;
}

/** The proxy's clock, moved by the test alone. */
export class ManualClock implements Clock {
  #now = 1_000;
  #order = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.#now;
  }

  timer(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order++, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Runs every timer that is due on the way, in order, including those set on the way. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end);
      const next = due.sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (!next) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
  }
}
