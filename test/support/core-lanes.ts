import type { Event } from "../../proxy-image/src/core/types.ts";
import type { Client, Surroundings } from "./core-proxy.ts";

/** As long as the plane waits for a target's first byte, and for others' news before it tells its own. */
const PATIENCE_MS = 100;
const NEWS_MS = 20;

/** What lanes need of the proxy that they belong to. */
export interface LaneHost {
  readonly clients: Map<number, Client>;
  count(stage: "lane", port: number): number;
  proved(port: number): boolean;
  deliver(event: () => Event | undefined): void;
  later(delayMs: number, run: () => void): void;
  joined(client: Client): void;
}

/**
 * The lanes of a proxy in the model: they take clients between two steps of the core while it has them open, and are
 * shut, and heard, before each step.
 */
export class LaneModel {
  /** As core has said last. */
  openPorts: readonly number[] = [];
  private open = new Set<number>();
  private readonly told = new Map<number, number>();
  private readonly answered = new Set<number>();
  private readonly left = new Set<number>();
  private readonly host: LaneHost;
  private readonly world: Surroundings;

  constructor(host: LaneHost, world: Surroundings) {
    this.host = host;
    this.world = world;
  }

  /** Nobody passes any more. What core has to know before anything else. */
  shut(ports: readonly number[]): Event[] {
    this.open.clear();
    return ports.flatMap((port): Event[] => {
      const clients = this.host.count("lane", port);
      const [answered, left] = [this.answered.delete(port), this.left.delete(port)];
      if (clients === (this.told.get(port) ?? 0) && !answered && !left) return [];
      this.told.set(port, clients);
      return [{ type: "lane", port, clients, answered, left }];
    });
  }

  reopen(): void {
    this.open = new Set(this.openPorts);
  }

  /** Whether the client has passed into the lane. */
  take(client: Client): boolean {
    const { time, luck, target, runtime } = this.world;
    if (!this.open.has(client.port) || !luck.chance(runtime.lanes)) return false;
    client.stage = "lane";
    this.host.clients.set(client.id, client);
    const generation = target.answering(client.port);
    const dial = { begunAt: time.now, generation };
    client.dial = dial;
    const speaks = generation && target.serves(generation, client.port) && !luck.chance(runtime.slowBanners);
    const delayMs = luck.between(1, 2 * PATIENCE_MS);
    if (!speaks || delayMs > PATIENCE_MS) {
      this.host.later(Math.min(delayMs, PATIENCE_MS), () => this.handOver(client));
      return true;
    }
    this.host.later(delayMs, () => {
      if (client.dial !== dial || client.stage !== "lane" || client.doomed) return;
      if (time.now >= generation.diesAt) {
        this.handOver(client);
        return;
      }
      client.splicedAt = time.now;
      this.answered.add(client.port);
      this.host.joined(client);
      this.tellSoon();
    });
    return true;
  }

  /** Does nothing for one that is spliced. */
  handOver(client: Client): void {
    if (client.stage !== "lane" || client.splicedAt !== undefined || client.doomed) return;
    const { port } = client;
    this.open.delete(port);
    this.host.deliver(() => {
      if (client.stage !== "lane" || client.doomed) return undefined;
      client.dial = undefined;
      if (client.stranger && !this.host.proved(port)) {
        client.stage = "gone";
        this.host.clients.delete(client.id);
        return undefined;
      }
      client.stage = "waiting";
      return { type: "arrived", port };
    });
    // Core has counted him twice until it hears of the lane again.
    this.host.deliver(() => undefined);
  }

  recall(port: number): void {
    for (const client of [...this.host.clients.values()]) if (client.port === port) this.handOver(client);
  }

  /** A client of the lane is gone. */
  gone({ port, stranger }: Client): void {
    if (!stranger) this.left.add(port);
    this.tellSoon();
  }

  private tellSoon(): void {
    this.host.later(this.world.luck.between(0, NEWS_MS), () => this.host.deliver(() => undefined));
  }
}
