import { type Deferred, deferred } from "./deferred.ts";

/** Where a boot can be held: before its processes start, before readiness is believed, before a port opens. */
export type BootPoint = "start" | "ready" | { port: number };

export interface BootHold {
  /** The first replica that got there; it waits. */
  reached: Promise<string>;
  /** Lets those that wait go on, and later ones pass. */
  release(): void;
}

export interface BootDelays {
  /** From a replica's creation to its processes starting. */
  ms?: number;
  /** Further delay of single ports, counted from there. */
  ports?: Record<number, number>;
}

/** How one workload boots, as a test has it. */
export class BootControl {
  delays: BootDelays = {};
  readonly #holds = new Map<string, { passed: Deferred<void>; reached: Deferred<string> }>();

  hold(point: BootPoint): BootHold {
    const id = idOf(point);
    this.#holds.get(id)?.passed.resolve();
    const hold = { passed: deferred<void>(), reached: deferred<string>() };
    this.#holds.set(id, hold);
    return {
      reached: hold.reached.promise,
      release: () => {
        if (this.#holds.get(id) === hold) this.#holds.delete(id);
        hold.passed.resolve();
      },
    };
  }

  /** `undefined` where nothing holds, so that a boot without delay takes no turn of the event loop. */
  at(point: BootPoint, replica: string): Promise<void> | undefined {
    const hold = this.#holds.get(idOf(point));
    if (hold === undefined) return undefined;
    hold.reached.resolve(replica);
    return hold.passed.promise;
  }

  /** Ports that a boot opens later than its processes start. */
  latePorts(): number[] {
    const held = [...this.#holds.keys()]
      .filter((id) => id.startsWith("port "))
      .map((id) => Number(id.slice(5)));
    const delayed = Object.entries(this.delays.ports ?? {}).flatMap(([port, ms]) =>
      ms > 0 ? [Number(port)] : [],
    );
    return [...new Set([...held, ...delayed])];
  }

  releaseAll(): void {
    for (const hold of this.#holds.values()) hold.passed.resolve();
    this.#holds.clear();
  }
}

function idOf(point: BootPoint): string {
  return typeof point === "string" ? point : `port ${point.port}`;
}
