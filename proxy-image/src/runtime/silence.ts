import type { PortMapping } from "../../../src/contract/settings";
import type { Condition } from "../core/describe";
import type { ProbeOutcome } from "../core/types";
import type { Clock } from "./clock";

/** What one attempt found at a port. */
interface Tally {
  silent: number;
  other: number;
  /** When it was reported. */
  saidAt: number | undefined;
}

export interface SilentPort {
  port: number;
  probes: number;
  advice: string;
}

const ADVICE: Partial<Record<PortMapping["readiness"]["kind"], string>> = {
  banner:
    "it accepts and says nothing unasked: where its clients speak first, choose its protocol in `readiness`",
  replay: "it accepts and does not answer its clients: choose its protocol or `platform` in `readiness`",
};
const OTHERWISE = "it accepts and does not answer the probe: check the protocol chosen in `readiness`";

/** Ports that accept and stay silent for a whole attempt to wake: most likely they are asked in the wrong way. */
export class Silence {
  private readonly tallies: ReadonlyMap<number, Tally>;
  private readonly mappings: readonly PortMapping[];
  private readonly clock: Clock;

  constructor(mappings: readonly PortMapping[], clock: Clock) {
    this.mappings = mappings;
    this.clock = clock;
    this.tallies = new Map(
      mappings.map(({ listen }) => [listen, { silent: 0, other: 0, saidAt: undefined }]),
    );
  }

  record(port: number, outcome: ProbeOutcome): void {
    const tally = this.tallies.get(port);
    if (!tally || outcome === "unreachable") return;
    if (outcome === "silent") tally.silent += 1;
    else tally.other += 1;
    if (outcome === "answered") tally.saidAt = undefined;
  }

  /** The silent ones; the next attempt is counted afresh. */
  attemptOver(): SilentPort[] {
    return this.mappings.flatMap(({ listen, readiness }) => {
      const tally = this.tallies.get(listen);
      if (!tally) return [];
      const { silent, other } = tally;
      tally.silent = 0;
      tally.other = 0;
      if (silent === 0 || other > 0) return [];
      tally.saidAt ??= this.clock.now();
      return [{ port: listen, probes: silent, advice: ADVICE[readiness.kind] ?? OTHERWISE }];
    });
  }

  conditions(): Condition[] {
    const now = this.clock.now();
    return this.mappings.flatMap(({ listen, readiness }): Condition[] => {
      const saidAt = this.tallies.get(listen)?.saidAt;
      if (saidAt === undefined) return [];
      const reason = `port ${listen}: ${ADVICE[readiness.kind] ?? OTHERWISE}`;
      return [{ type: "target_silent", reason, forMs: now - saidAt, nextTryInMs: undefined }];
    });
  }
}
