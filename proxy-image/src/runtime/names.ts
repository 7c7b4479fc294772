import dns from "node:dns";
import type { LookupFunction } from "node:net";
import type { Clock } from "./clock";

/** An address may change across a wake, so it is not kept for longer than a look may come too late. */
const KEPT_MS = 1_000;

type Found = Parameters<Parameters<LookupFunction>[2]>;

/** Resolves names for looks that follow each other soon: one question a second for each, not one for each look. */
export class Names {
  private readonly found = new Map<string, { at: number; answer: Found }>();
  private readonly clock: Clock;
  private readonly resolve: LookupFunction;

  constructor(clock: Clock, resolve: LookupFunction = dns.lookup) {
    this.clock = clock;
    this.resolve = resolve;
  }

  readonly lookup: LookupFunction = (name, options, done) => {
    const question = `${name} ${JSON.stringify(options)}`;
    const known = this.found.get(question);
    const askedAt = this.clock.now();
    if (known && askedAt - known.at < KEPT_MS) {
      const { answer } = known;
      process.nextTick(() => done(...answer));
      return;
    }
    this.resolve(name, options, (...answer) => {
      const [error] = answer;
      if (error) this.found.delete(question);
      else this.found.set(question, { at: askedAt, answer });
      done(...answer);
    });
  };
}
