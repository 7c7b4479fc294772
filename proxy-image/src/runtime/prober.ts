import type { LookupFunction } from "node:net";
import type { PortMapping, TargetSettings } from "../../../src/contract/settings";
import type { ProbeOutcome } from "../core/types";
import type { TargetApi } from "../cpln/api";
import { type ProbeOptions, probe as probePort } from "../net/probe";
import type { Protocol } from "../probes/protocol";
import type { Clock } from "./clock";
import type { Connection } from "./connection";
import { Names } from "./names";

export type ProbePort = (options: ProbeOptions) => Promise<ProbeOutcome>;

export interface ProberDeps {
  settings: Pick<TargetSettings, "host" | "probeWindowMs">;
  protocols: ReadonlyMap<number, Protocol>;
  api: Pick<TargetApi, "readDeployment">;
  clock: Clock;
  probe: ProbePort | undefined;
  resolve?: LookupFunction;
}

export interface Look {
  outcome: Promise<ProbeOutcome>;
  /** Called once core has taken the outcome in. */
  settle?: () => void;
}

/** The deployment is read at most this often, however short the poll interval. */
const STATUS_SPACING_MS = 1_000;

/** Looks at a port in the way that its mapping says. */
export class Prober {
  private statusAt = Number.NEGATIVE_INFINITY;
  private readonly deps: ProberDeps;
  private readonly names: Names;

  constructor(deps: ProberDeps) {
    this.deps = deps;
    this.names = new Names(deps.clock, deps.resolve);
  }

  /** `waiting`: who could say something. `version`: that of the running generation, where there is one. */
  probe(mapping: PortMapping, waiting: readonly Connection[], version: number | undefined): Look {
    const { settings, protocols, clock, probe = probePort } = this.deps;
    if (mapping.readiness.kind === "platform") return { outcome: this.askPlatform(version) };
    if (mapping.readiness.kind === "replay") return offer(waiting);
    const protocol = protocols.get(mapping.listen);
    const { host, probeWindowMs: windowMs } = settings;
    const options = { host, port: mapping.target, windowMs, clock, lookup: this.names.lookup };
    return { outcome: probe({ ...options, ...(protocol ? { protocol } : {}) }) };
  }

  /** What is said of another generation than the running one counts for nothing. */
  private async askPlatform(version: number | undefined): Promise<ProbeOutcome> {
    const now = this.deps.clock.now();
    if (version === undefined || now - this.statusAt < STATUS_SPACING_MS) return "unreachable";
    this.statusAt = now;
    const answer = await this.deps.api.readDeployment().catch(() => undefined);
    if (!answer?.ok) return "unreachable";
    return answer.value.ready && answer.value.lastProcessedVersion >= version ? "answered" : "unready";
  }
}

/** The first client that has something to say and is not saying it already. Without one nothing can be told. */
function offer(waiting: readonly Connection[]): Look {
  for (const connection of waiting) {
    const outcome = connection.offerBytes();
    if (outcome) return { outcome, settle: () => connection.settleOffer() };
  }
  return { outcome: Promise.resolve("unreachable") };
}
