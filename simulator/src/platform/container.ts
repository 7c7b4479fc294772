import type { ContainerContext, Execution, Image, RunningContainer } from "../images/catalogue.ts";
import type { Clock } from "../model.ts";
import { deferred } from "./deferred.ts";
import { ProbeRunner } from "./probes.ts";
import type { ContainerSpec } from "./spec.ts";

export interface ContainerEvents {
  onStarted(hasReadiness: boolean): void;
  onReady(ready: boolean): void;
  onExited(exitCode: number, reason: string): void;
}

/** One container of one replica, over all its restarts. */
export class ContainerRunner {
  readonly spec: ContainerSpec;
  readonly image: Image;
  readonly #address: string;
  readonly #clock: Clock;
  readonly #events: ContainerEvents;
  readonly #executions = new Set<Execution>();
  #running: RunningContainer | undefined;
  #starting: Promise<void> | undefined;
  #probes: ProbeRunner[] = [];
  #probeSays = true;
  #heldUnready = false;
  #cancelPreStop = () => {};
  #phase: "live" | "killed" = "live";

  constructor(spec: ContainerSpec, image: Image, address: string, clock: Clock, events: ContainerEvents) {
    this.spec = spec;
    this.image = image;
    this.#address = address;
    this.#clock = clock;
    this.#events = events;
  }

  get pid(): number | undefined {
    return this.#running?.pid;
  }

  /** `gate` is passed after the processes have started and before anybody is told. */
  start(context: () => Promise<ContainerContext>, gate: () => Promise<void> | undefined): Promise<void> {
    this.#starting = this.#start(context, gate);
    return this.#starting;
  }

  async #start(
    context: () => Promise<ContainerContext>,
    gate: () => Promise<void> | undefined,
  ): Promise<void> {
    let running: RunningContainer;
    try {
      running = await this.image.start(await context());
    } catch (error) {
      if (this.#phase === "live") this.#events.onExited(128, `StartError: ${String(error)}`);
      return;
    }
    this.#running = running;
    if (this.#isKilled()) {
      await running.kill();
      return;
    }
    let over = false;
    void running.exited.then((exit) => {
      over = true;
      this.#stopProbes();
      this.#events.onExited(exit.exitCode, exit.reason);
    });
    if (this.spec.postStart !== undefined && (await this.#exec(running, this.spec.postStart)) !== 0) {
      return void (await running.kill("Error"));
    }
    await gate();
    if (over || this.#isKilled()) return;
    this.#probeSays = this.spec.readiness === undefined;
    this.#events.onStarted(this.spec.readiness !== undefined || this.#heldUnready);
    this.#probe(running);
  }

  #probe(running: RunningContainer): void {
    const { readiness, liveness } = this.spec;
    const common = { address: this.#address, container: running, clock: this.#clock };
    if (readiness !== undefined) {
      const onVerdict = (ok: boolean) => {
        this.#probeSays = ok;
        if (!this.#heldUnready) this.#events.onReady(ok);
      };
      this.#probes.push(new ProbeRunner({ ...common, spec: readiness, onVerdict }));
    }
    if (liveness !== undefined) {
      const onVerdict = (ok: boolean) => void (ok || running.kill("Error"));
      this.#probes.push(new ProbeRunner({ ...common, spec: liveness, onVerdict }));
    }
  }

  /** A failure that a test injects: whatever the probe says, it is not ready. */
  holdUnready(held: boolean): void {
    if (this.#heldUnready === held) return;
    this.#heldUnready = held;
    if (this.#running !== undefined) this.#events.onReady(held ? false : this.#probeSays);
  }

  /** As documented: the document's own command, else half the grace period asleep, which needs a shell. */
  async preStop(graceMs: number): Promise<boolean> {
    const running = this.#running;
    if (running === undefined) return true;
    if (this.spec.preStop !== undefined) return (await this.#exec(running, this.spec.preStop)) === 0;
    if (!this.image.hasShell) return false;
    const slept = deferred<boolean>();
    const cancel = this.#clock.after(graceMs / 2, () => slept.resolve(true));
    this.#cancelPreStop = () => {
      cancel();
      slept.resolve(true);
    };
    return slept.promise;
  }

  signal(name: "SIGTERM" | "SIGINT"): void {
    this.#running?.signal(name);
  }

  /** Ends this run of the container alone, as an out-of-memory killer would. */
  async crash(reason: string): Promise<void> {
    await this.#running?.kill(reason);
  }

  async kill(): Promise<void> {
    this.#phase = "killed";
    this.#stopProbes();
    this.#cancelPreStop();
    for (const execution of this.#executions) execution.kill();
    await this.#running?.kill();
    await Promise.all([...this.#executions].map((execution) => execution.exitCode));
    await this.#starting;
  }

  #isKilled(): boolean {
    return this.#phase === "killed";
  }

  #stopProbes(): void {
    for (const probe of this.#probes) probe.stop();
    this.#probes = [];
  }

  async #exec(running: RunningContainer, command: string[]): Promise<number> {
    const execution = running.exec(command);
    this.#executions.add(execution);
    const exitCode = await execution.exitCode;
    this.#executions.delete(execution);
    return exitCode;
  }
}
