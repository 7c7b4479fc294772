import type { ConnectionStage } from "../core/types";
import type { Connection } from "./connection";

/**
 * Where the core believes each connection stands. Reports wait in a queue while effects are performed, so a
 * connection can be ahead of what the core has been told; effects go by this ledger, and the two never disagree.
 */
export class Ledger {
  private readonly entries = new Map<Connection, { port: number; stage: ConnectionStage }>();
  private readonly byPort = new Map<number, Record<"waiting" | "connecting", Set<Connection>>>();

  arrive(connection: Connection, port: number): void {
    this.entries.set(connection, { port, stage: "waiting" });
    this.sets(port).waiting.add(connection);
  }

  stageOf(connection: Connection): ConnectionStage | undefined {
    return this.entries.get(connection)?.stage;
  }

  move(connection: Connection, stage: ConnectionStage): void {
    const entry = this.entries.get(connection);
    if (!entry) return;
    this.unlist(connection, entry);
    entry.stage = stage;
    if (stage !== "spliced") this.sets(entry.port)[stage].add(connection);
  }

  /** Returns where it stood. */
  leave(connection: Connection): ConnectionStage | undefined {
    const entry = this.entries.get(connection);
    if (!entry) return undefined;
    this.unlist(connection, entry);
    this.entries.delete(connection);
    return entry.stage;
  }

  /** First come first served, whoever had to come back. */
  waiting(port: number): Connection[] {
    return inOrder(this.sets(port).waiting);
  }

  connecting(port: number): Connection[] {
    return inOrder(this.sets(port).connecting);
  }

  held(): Connection[] {
    return [...this.byPort.values()].flatMap(({ waiting, connecting }) => [...waiting, ...connecting]);
  }

  private unlist(connection: Connection, { port, stage }: { port: number; stage: ConnectionStage }): void {
    if (stage !== "spliced") this.sets(port)[stage].delete(connection);
  }

  private sets(port: number): Record<"waiting" | "connecting", Set<Connection>> {
    const known = this.byPort.get(port);
    if (known) return known;
    const sets = { waiting: new Set<Connection>(), connecting: new Set<Connection>() };
    this.byPort.set(port, sets);
    return sets;
  }
}

const inOrder = (connections: Iterable<Connection>): Connection[] =>
  [...connections].sort((a, b) => a.id - b.id);
