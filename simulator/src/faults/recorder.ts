import { type CallMatch, type CallRecord, matchesCall } from "./call.ts";

/** Every API call, in order of arrival, whatever became of it. */
export class Recorder {
  #calls: CallRecord[] = [];
  #next = 1;
  readonly #listeners = new Set<(call: CallRecord) => void>();

  /** Snapshots would hide a call that is under way: these are the live records. */
  get calls(): readonly CallRecord[] {
    return this.#calls;
  }

  matching(match: CallMatch): CallRecord[] {
    return this.#calls.filter((call) => matchesCall(match, call));
  }

  /** What was asked of this simulator that it doesn't do: a test that is about something else asserts none. */
  get notImplemented(): CallRecord[] {
    return this.#calls.filter((call) => call.notImplemented === true);
  }

  /** Resolves once `count` calls that match have ended (answered, reset, …), past ones included. */
  waitFor(match: CallMatch, count = 1): Promise<CallRecord[]> {
    const ended = () => this.matching(match).filter((call) => call.outcome !== "open");
    const found = ended();
    if (found.length >= count) return Promise.resolve(found.slice(0, count));
    return new Promise((resolve) => {
      const stop = this.subscribe(() => {
        const now = ended();
        if (now.length < count) return;
        stop();
        resolve(now.slice(0, count));
      });
    });
  }

  /** The next call that matches, as it comes in; who makes it is not known yet. */
  arrival(match: CallMatch): Promise<CallRecord> {
    const last = this.#next;
    return new Promise((resolve) => {
      const stop = this.subscribe((call) => {
        if (call.id < last || !matchesCall(match, call)) return;
        stop();
        resolve(call);
      });
    });
  }

  /** Told at a call's arrival and at its end. */
  subscribe(listener: (call: CallRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  clear(): void {
    this.#calls = [];
  }

  /** The API's side: a call has come. */
  add(call: Omit<CallRecord, "id" | "outcome">): CallRecord {
    const record: CallRecord = { ...call, id: this.#next++, outcome: "open" };
    this.#calls.push(record);
    this.tell(record);
    return record;
  }

  /** The API's side: a record has changed. */
  tell(call: CallRecord): void {
    for (const listener of [...this.#listeners]) listener(call);
  }
}
