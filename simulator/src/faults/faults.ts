/**
 * What may go wrong with API calls, made to happen. A call passes three points: `received` (authenticated, nothing
 * done yet), `applied` (written, not answered), `answered` (the answer has left). Rules are tried in the order they
 * were made; stops and delays add up, the first rule that ends the call ends it.
 */
import { errorBody } from "../api/errors.ts";
import type { Answer } from "../api/exchange.ts";
import type { Clock } from "../model.ts";
import { deferred } from "../time/deferred.ts";
import { type CallMatch, type CallRecord, matchesCall } from "./call.ts";

export type Point = "received" | "applied" | "answered";

/** What becomes of a call at a point. `late`: its caller is answered now, and it goes on once `until` resolves. */
export type Verdict =
  | { type: "go" }
  | { type: "answer"; answer: Answer }
  | { type: "reset" }
  | { type: "late"; end: Ending; until: Promise<Verdict> };
export type Ending = Exclude<Verdict, { type: "late" } | { type: "go" }>;

export interface Failure {
  status: number;
  message?: string;
  /** Sent as the `Retry-After` header, in seconds. */
  retryAfterSeconds?: number;
  headers?: { [name: string]: string };
  /** Fail before anything is done (the default), or after the write has been made. */
  at?: "received" | "applied";
  /** How many calls: all of them unless told. */
  times?: number;
}

export interface Rule {
  readonly id: number;
  readonly what: string;
  /** How many calls it has taken. */
  readonly taken: number;
  /** Calls after this one are left alone; those it holds go on. */
  remove(): void;
}

export interface Held {
  readonly call: CallRecord;
  /** Lets the call go on, or ends it. */
  release(verdict?: Ending): void;
}

export interface Stop extends Rule {
  /** The first call that arrives at the point. */
  readonly reached: Promise<CallRecord>;
  /** What is held now. */
  readonly held: readonly CallRecord[];
  /** The next call that is held and that no earlier `next()` has had. */
  next(): Promise<Held>;
  /** All that is held goes on (or is ended), and no further call is stopped. */
  release(verdict?: Ending): void;
}

export interface Late extends Rule {
  /** The first call whose caller has been let down. */
  readonly reached: Promise<CallRecord>;
  /** Now it is applied. */
  apply(): void;
}

interface ActiveRule {
  rule: Rule;
  match: CallMatch;
  point: Point;
  left: number;
  run: (call: CallRecord) => Verdict | Promise<Verdict>;
  drop: () => void;
}

const go: Verdict = { type: "go" };

export class Faults {
  #rules: ActiveRule[] = [];
  #next = 1;
  #phase: "open" | "disposed" = "open";
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Holds matching calls at a point: one call unless `times` says more. */
  stopAt(match: CallMatch, point: Point, options: { times?: number } = {}): Stop {
    const waiting: Held[] = [];
    const takers: ((held: Held) => void)[] = [];
    const open = new Map<(verdict: Verdict) => void, CallRecord>();
    const first = deferred<CallRecord>();
    const letGo = (verdict: Verdict) => {
      for (const resolve of open.keys()) resolve(verdict);
      open.clear();
    };
    const run = (call: CallRecord): Promise<Verdict> => {
      const { promise, resolve } = deferred<Verdict>();
      open.set(resolve, call);
      const held: Held = {
        call,
        release: (verdict = undefined) => {
          open.delete(resolve);
          resolve(verdict ?? go);
        },
      };
      first.resolve(call);
      const taker = takers.shift();
      if (taker) taker(held);
      else waiting.push(held);
      return promise;
    };
    const what = `stop at ${point}`;
    const rule = this.#add(what, match, point, options.times ?? 1, run, () => letGo(this.#end()));
    const held = { enumerable: true, get: () => [...open.values()] };
    Object.defineProperty(rule, "held", held);
    return Object.assign(rule as Rule & Pick<Stop, "held">, {
      reached: first.promise,
      next: () => {
        const held = waiting.shift();
        return held ? Promise.resolve(held) : new Promise<Held>((resolve) => takers.push(resolve));
      },
      release: (verdict?: Ending) => {
        letGo(verdict ?? go);
        rule.remove();
      },
    });
  }

  /** Calls take `delayMs` longer, of the simulator's clock. */
  delay(match: CallMatch, delayMs: number, options: { at?: Point; times?: number } = {}): Rule {
    const open = new Set<(verdict: Verdict) => void>();
    const run = () =>
      new Promise<Verdict>((resolve) => {
        open.add(resolve);
        this.#clock.after(delayMs, () => {
          open.delete(resolve);
          resolve(go);
        });
      });
    const point = options.at ?? "received";
    return this.#add(`delay ${delayMs} ms at ${point}`, match, point, options.times, run, () => {
      for (const resolve of open) resolve(this.#end());
    });
  }

  /** Calls are answered with a status of your choice. */
  fail(match: CallMatch, failure: Failure): Rule {
    const verdict = failed(failure);
    const what = `fail with ${failure.status} at ${failure.at ?? "received"}`;
    return this.#add(what, match, failure.at ?? "received", failure.times, () => verdict, nothing);
  }

  /** Calls end in a TCP reset. */
  reset(match: CallMatch, options: { at?: "received" | "applied"; times?: number } = {}): Rule {
    const point = options.at ?? "received";
    return this.#add(`reset at ${point}`, match, point, options.times, () => ({ type: "reset" }), nothing);
  }

  /** 429, with or without `Retry-After`. */
  rateLimit(match: CallMatch, options: { retryAfterSeconds?: number; times?: number } = {}): Rule {
    return this.fail(match, { status: 429, message: "Too many requests", ...options });
  }

  /** The other 429: clients that see `quota` in the text don't try again. */
  quota(match: CallMatch, options: { message?: string; times?: number } = {}): Rule {
    return this.fail(match, { status: 429, message: "The quota of the org is exceeded", ...options });
  }

  /** The caller is let down (reset, or a status such as 504), and the call is applied all the same, later. */
  applyLate(match: CallMatch, options: { answer?: "reset" | number; times?: number } = {}): Late {
    const { answer = "reset", times = 1 } = options;
    const end: Ending = answer === "reset" ? { type: "reset" } : failed({ status: answer });
    const first = deferred<CallRecord>();
    const until = deferred<Verdict>();
    const run = (call: CallRecord): Verdict => {
      first.resolve(call);
      return { type: "late", end, until: until.promise };
    };
    const rule = this.#add("apply late", match, "received", times, run, () => until.resolve(this.#end()));
    return Object.assign(rule, { reached: first.promise, apply: () => until.resolve(go) });
  }

  /** The rules in force. */
  list(): readonly Rule[] {
    return this.#rules.map(({ rule }) => rule);
  }

  find(id: number): Rule | undefined {
    return this.#rules.find(({ rule }) => rule.id === id)?.rule;
  }

  /** No more faults; what is held goes on. */
  clear(): void {
    for (const { rule } of [...this.#rules]) rule.remove();
  }

  dispose(): void {
    this.#phase = "disposed";
    this.clear();
  }

  /** The API's side: what becomes of this call at this point? Rules claim a call when it arrives, not later. */
  async pass(point: Point, call: CallRecord): Promise<Verdict> {
    const claimed = this.#rules.filter((rule) => rule.point === point && this.#claim(rule, call));
    for (const rule of claimed) {
      const verdict = await rule.run(call);
      if (verdict.type !== "go") return verdict;
    }
    return this.#end();
  }

  /** After disposal nothing may be applied any more. */
  #end(): Verdict {
    return this.#phase === "disposed" ? { type: "reset" } : go;
  }

  #claim(rule: ActiveRule, call: CallRecord): boolean {
    if (rule.left <= 0 || !matchesCall(rule.match, call)) return false;
    rule.left -= 1;
    (rule.rule as { taken: number }).taken += 1;
    return true;
  }

  #add(
    what: string,
    match: CallMatch,
    point: Point,
    times: number | undefined,
    run: ActiveRule["run"],
    drop: () => void,
  ): Rule {
    const rule: Rule = {
      id: this.#next++,
      what,
      taken: 0,
      remove: () => {
        this.#rules = this.#rules.filter((active) => active.rule !== rule);
        drop();
      },
    };
    this.#rules.push({ rule, match, point, left: times ?? Number.POSITIVE_INFINITY, run, drop });
    return rule;
  }
}

const nothing = (): void => {};

/** The ending that a failure makes. */
export function failed(failure: Failure): Ending {
  const { status, retryAfterSeconds, headers = {} } = failure;
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  const message = failure.message ?? `The simulator was told to answer ${status}`;
  return {
    type: "answer",
    answer: { status, body: errorBody(status, message), headers: { ...headers, ...retry } },
  };
}
