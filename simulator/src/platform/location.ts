import type { ResourceKey } from "../model.ts";
import type { PickedReplica } from "../network/mesh.ts";
import type { BootControl } from "./boot.ts";
import type { PlatformContext } from "./context.ts";
import type { Failure } from "./failures.ts";
import { ReplicaRunner } from "./replica.ts";
import type { Command, PlatformEvent } from "./transitions/events.ts";
import { type LocationState, newLocation, type Replica } from "./transitions/state.ts";
import { step } from "./transitions/step.ts";

export interface LocationHost {
  key: ResourceKey;
  boot: BootControl;
  failure(location: string): Failure | undefined;
  globalEndpoint(): string;
  onChange(): void;
}

/** One workload in one location: feeds events to the transitions and carries out their commands. */
export class LocationRuntime {
  readonly name: string;
  state: LocationState;
  readonly #host: LocationHost;
  readonly #context: PlatformContext;
  readonly #runners = new Map<string, ReplicaRunner>();
  readonly #timers = new Set<() => void>();
  readonly #queue: PlatformEvent[] = [];
  #phase: "idle" | "stepping" | "disposed" = "idle";

  constructor(name: string, host: LocationHost, context: PlatformContext) {
    this.name = name;
    this.#host = host;
    this.#context = context;
    this.state = newLocation(host.key.name, name);
  }

  /** Events that a command causes at once wait for the step that caused them. */
  dispatch(event: PlatformEvent): void {
    if (this.#phase === "disposed") return;
    this.#queue.push(event);
    if (this.#phase === "stepping") return;
    this.#phase = "stepping";
    const { clock, crashBackoffMs = 10_000 } = this.#context.options;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const { state, commands } = step(this.state, next, clock.now(), { crashBackoffMs });
      this.state = state;
      for (const command of commands) this.#carryOut(command);
      if (next.type === "released") this.#runners.delete(next.replica);
    }
    this.#phase = "idle";
    this.#host.onChange();
  }

  #carryOut(command: Command): void {
    if (command.type === "after") {
      this.#after(command.delayMs, command.event);
      return;
    }
    const replica = this.state.replicas.find((item) => item.id === command.replica);
    if (replica === undefined) return;
    const runner = this.#runner(replica);
    switch (command.type) {
      case "boot":
        runner.boot();
        return;
      case "start":
        runner.start(command.container);
        return;
      case "pre-stop":
        runner.preStop(command.container, (replica.graceEndsAt ?? 0) - (replica.terminatingSince ?? 0));
        return;
      case "signal":
        runner.signal(command.container, this.#context.switches.stopSignal);
        return;
      case "kill":
        void runner.kill();
    }
  }

  #runner(replica: Replica): ReplicaRunner {
    let runner = this.#runners.get(replica.id);
    if (runner === undefined) {
      const { key, boot } = this.#host;
      const host = {
        key,
        location: this.name,
        boot,
        failure: () => this.#host.failure(this.name),
        globalEndpoint: () => this.#host.globalEndpoint(),
        dispatch: (event: PlatformEvent) => this.dispatch(event),
      };
      runner = new ReplicaRunner(replica, host, this.#context);
      this.#runners.set(replica.id, runner);
    }
    return runner;
  }

  #after(delayMs: number, event: PlatformEvent): void {
    const cancel = this.#context.options.clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      this.dispatch(event);
    });
    this.#timers.add(cancel);
  }

  failureChanged(): void {
    for (const runner of [...this.#runners.values()]) runner.failureChanged();
    this.dispatch({ type: "unblocked" });
  }

  picked(replica: Replica): PickedReplica | undefined {
    const runner = this.#runners.get(replica.id);
    if (runner === undefined) return undefined;
    return {
      name: replica.name,
      generation: replica.generation,
      location: this.name,
      address: runner.address,
      attach: (relay) => runner.attach(relay),
      detach: (relay) => runner.detach(relay),
    };
  }

  running(replica: Replica): { address: string; pids: number[] } | undefined {
    const runner = this.#runners.get(replica.id);
    return runner === undefined ? undefined : { address: runner.address, pids: runner.pids };
  }

  async dispose(): Promise<void> {
    this.#phase = "disposed";
    for (const cancel of this.#timers) cancel();
    await Promise.all([...this.#runners.values()].map((runner) => runner.kill()));
  }
}
