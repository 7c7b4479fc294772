/** Answers as they were some time ago: what a client sees of a platform whose status lags. */
export class History<T> {
  readonly #entries: { at: number; value: T }[] = [];
  readonly #keepMs: number;

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  add(at: number, value: T): void {
    this.#entries.push({ at, value });
    // The newest entry older than what may be asked for is still the answer for that moment.
    while ((this.#entries[1]?.at ?? Infinity) <= at - this.#keepMs) this.#entries.shift();
  }

  /** The last value at `time` or before; the first one there is, where nothing is that old. */
  at(time: number): T | undefined {
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const entry = this.#entries[index];
      if (entry !== undefined && entry.at <= time) return entry.value;
    }
    return this.#entries[0]?.value;
  }
}
