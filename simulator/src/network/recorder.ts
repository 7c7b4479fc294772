import type { ResourceKey } from "../model.ts";

/** What became of a connection to a workload. */
export type Outcome = "relayed" | "mute" | "denied" | "closed" | "reset" | "failed" | "unavailable";

export interface RecordedConnection {
  id: number;
  workload: ResourceKey;
  via: "mesh" | "load-balancer";
  location: string;
  /** Container port for the mesh, external port for a load balancer. */
  port: number;
  /** The caller's address, and its workload where it is one. */
  from: string;
  caller: ResourceKey | undefined;
  at: number;
  outcome: Outcome;
  /** The replica and the generation that took it. */
  replica: string | undefined;
  generation: number | undefined;
  bytesIn: number;
  bytesOut: number;
  endedAt: number | undefined;
}

export interface ConnectionFilter {
  via?: RecordedConnection["via"];
  port?: number;
  location?: string;
  outcome?: Outcome;
  open?: boolean;
}

const kept = 50_000;

/** Every connection that reached a listener of ours, so that a test can count what its target was bothered with. */
export class Recorder {
  readonly #connections: RecordedConnection[] = [];
  #next = 1;
  readonly #onChange: (workload: ResourceKey) => void;

  constructor(onChange: (workload: ResourceKey) => void) {
    this.#onChange = onChange;
  }

  open(connection: Omit<RecordedConnection, "id" | "bytesIn" | "bytesOut" | "endedAt">): RecordedConnection {
    const recorded = {
      ...connection,
      id: this.#next++,
      bytesIn: 0,
      bytesOut: 0,
      endedAt: undefined,
    };
    this.#connections.push(recorded);
    this.#forget();
    this.#onChange(recorded.workload);
    return recorded;
  }

  /** Old ones that are over go first, so that a long demonstration does not grow for ever. */
  #forget(): void {
    if (this.#connections.length <= kept) return;
    const over = this.#connections.findIndex(({ endedAt }) => endedAt !== undefined);
    this.#connections.splice(Math.max(over, 0), 1);
  }

  end(connection: RecordedConnection, now: number): void {
    if (connection.endedAt !== undefined) return;
    connection.endedAt = now;
    this.#onChange(connection.workload);
  }

  /** Copies, oldest first. */
  of(key: ResourceKey, filter: ConnectionFilter = {}): RecordedConnection[] {
    return this.#connections
      .filter((item) => sameKey(item.workload, key))
      .filter((item) => filter.via === undefined || item.via === filter.via)
      .filter((item) => filter.port === undefined || item.port === filter.port)
      .filter((item) => filter.location === undefined || item.location === filter.location)
      .filter((item) => filter.outcome === undefined || item.outcome === filter.outcome)
      .filter((item) => filter.open === undefined || (item.endedAt === undefined) === filter.open)
      .map((item) => ({ ...item }));
  }
}

export function sameKey(a: ResourceKey, b: ResourceKey): boolean {
  return a.org === b.org && a.kind === b.kind && a.name === b.name && a.gvc === b.gvc;
}
