import type { PortMapping } from "../../../src/contract/settings";
import type { Event } from "../core/types";
import type { HandedOver, Lane, LaneEnd } from "../net/lane";
import { abort } from "../net/sockets";
import type { Census } from "./admission";
import type { Clock } from "./clock";

/**
 * How long the address that a target last answered at is good for. A name may come to mean another one at any time:
 * after this a client goes the long way again, which looks it up.
 */
const ROUTE_MS = 10_000;

export interface LanesDeps {
  clock: Clock;
  onHanded: (mapping: PortMapping, client: HandedOver) => void;
  onEnded: (mapping: PortMapping, end: LaneEnd) => void;
  onTrouble: (mapping: PortMapping, error: Error) => void;
  onJoined: (count: number) => void;
}

type LaneEvent = Extract<Event, { type: "lane" }>;

interface Entry {
  mapping: PortMapping;
  lane: Lane;
  /** As core was last told. */
  clients: number;
  route: { address: string; learnedAt: number } | undefined;
}

/** The lanes of one target: open between the steps of its core where core agrees, and shut during every step. */
export class Lanes {
  private readonly entries = new Map<number, Entry>();
  private readonly deps: LanesDeps;

  constructor(deps: LanesDeps) {
    this.deps = deps;
  }

  add(mapping: PortMapping, lane: Lane): void {
    this.entries.set(mapping.listen, { mapping, lane, clients: 0, route: undefined });
  }

  get census(): Census {
    const census = { held: 0, spliced: 0 };
    for (const { lane } of this.entries.values()) {
      census.held += lane.held;
      census.spliced += lane.spliced;
    }
    return census;
  }

  /** The target has answered there. */
  learn(port: number, address: string | undefined): void {
    const entry = this.entries.get(port);
    if (entry && address !== undefined) entry.route = { address, learnedAt: this.deps.clock.now() };
  }

  /**
   * Shuts every lane, passes on what has happened, and returns what core has to know before anything else. Whoever was
   * handed over still counts as a client of the lane: his arrival comes later, and meanwhile somebody is there.
   */
  shut(): { events: LaneEvent[]; handed: number } {
    const { onHanded, onEnded, onTrouble, onJoined } = this.deps;
    const events: LaneEvent[] = [];
    let handedCount = 0;
    for (const [port, entry] of this.entries) {
      const { mapping, lane } = entry;
      const { dialling, spliced, joined, trouble, handed, ended } = lane.shut();
      const clients = dialling + spliced + handed.length;
      const left = ended.some(({ stranger }) => !stranger);
      if (clients !== entry.clients || joined > 0 || left)
        events.push({ type: "lane", port, clients, answered: joined > 0, left });
      entry.clients = clients;
      handedCount += handed.length;
      if (joined > 0) onJoined(joined);
      for (const client of handed) onHanded(mapping, client);
      for (const end of ended) onEnded(mapping, end);
      if (trouble) onTrouble(mapping, trouble);
    }
    return { events, handed: handedCount };
  }

  /** Opens the lanes of these ports, for so many connections being made at once beside those that are. */
  open(ports: readonly number[], moreDials: number): void {
    const share = Math.floor(moreDials / ports.length);
    for (const port of share > 0 ? ports : []) {
      const entry = this.entries.get(port);
      const forMs = entry?.route ? entry.route.learnedAt + ROUTE_MS - this.deps.clock.now() : 0;
      if (!entry?.route || forMs <= 0) continue;
      const dials = entry.lane.held + share;
      entry.lane.open({ address: entry.route.address, port: entry.mapping.target, forMs, dials });
    }
  }

  /** Has those handed over who are on their way to a target that is not to be trusted any more. */
  recall(port: number): void {
    const lane = this.entries.get(port)?.lane;
    if (lane && lane.held > 0) lane.recall();
  }

  cut(): void {
    for (const { lane } of this.entries.values()) lane.cut();
  }

  /** Resets whoever is handed over when there is nobody any more who could serve him. */
  discard(): void {
    for (const { lane } of this.entries.values()) {
      for (const { socket, target } of lane.shut().handed) {
        abort(socket);
        target?.destroy();
      }
    }
  }
}
