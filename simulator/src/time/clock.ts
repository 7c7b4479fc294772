import type { Clock } from "../model.ts";

interface Timer {
  at: number;
  order: number;
  run: () => void;
}

/**
 * The simulator's own time: it follows the machine's clock while running, stands still while paused, and can be
 * moved forward in both. Timers run in order of their due time, then of their making. One machine timer is armed at
 * any time, for the earliest of them.
 */
export class SimulatorClock implements Clock {
  #phase: "running" | "paused" | "disposed";
  /** What `now()` answers while paused; while running it is the offset's base. */
  #paused = 0;
  #offset = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();
  #armed: NodeJS.Timeout | undefined;
  readonly #machine: () => number;

  constructor(options: { paused?: boolean; now?: () => number } = {}) {
    this.#machine = options.now ?? Date.now;
    this.#phase = options.paused ? "paused" : "running";
    this.#paused = this.#machine();
  }

  get phase(): "running" | "paused" | "disposed" {
    return this.#phase;
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#phase === "running" ? this.#machine() + this.#offset : this.#paused;
  }

  after(delayMs: number, run: () => void): () => void {
    if (Number.isNaN(delayMs)) throw new RangeError("a delay must be a number");
    if (this.#phase === "disposed") return () => {};
    const timer: Timer = { at: this.now() + Math.max(0, delayMs), order: this.#order++, run };
    this.#timers.add(timer);
    this.#arm();
    return () => {
      if (this.#timers.delete(timer)) this.#arm();
    };
  }

  pause(): void {
    if (this.#phase !== "running") return;
    this.#paused = this.now();
    this.#phase = "paused";
    this.#arm();
  }

  resume(): void {
    if (this.#phase !== "paused") return;
    this.#offset = this.#paused - this.#machine();
    this.#phase = "running";
    this.#arm();
  }

  /** Moves forward by `ms`, running what falls due on the way, each timer at its own time. */
  advance(ms: number): void {
    const end = this.now() + ms;
    for (let due = this.#earliest(); due && due.at <= end; due = this.#earliest()) {
      if (due.at > this.now()) this.#set(due.at);
      this.#run(due);
    }
    if (end > this.now()) this.#set(end);
    this.#arm();
  }

  dispose(): void {
    this.#paused = this.now();
    this.#phase = "disposed";
    this.#timers.clear();
    this.#arm();
  }

  #set(time: number): void {
    if (this.#phase === "running") this.#offset += time - this.now();
    else this.#paused = time;
  }

  #run(timer: Timer): void {
    this.#timers.delete(timer);
    timer.run();
  }

  #earliest(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  }

  #arm(): void {
    clearTimeout(this.#armed);
    this.#armed = undefined;
    const next = this.#earliest();
    if (this.#phase !== "running" || !next) return;
    // Node's timers are 32-bit; a longer wait re-arms.
    const wait = Math.min(Math.max(0, next.at - this.now()), 2 ** 31 - 1);
    this.#armed = setTimeout(() => this.#fire(), wait);
  }

  #fire(): void {
    for (let due = this.#earliest(); due && due.at <= this.now(); due = this.#earliest()) this.#run(due);
    this.#arm();
  }
}
