import type { ContainerContext } from "../images/catalogue.ts";
import type { ResourceKey } from "../model.ts";
import type { Relay } from "../network/relay.ts";
import type { BootControl } from "./boot.ts";
import { ContainerRunner } from "./container.ts";
import { containerContext } from "./container-context.ts";
import type { PlatformContext } from "./context.ts";
import { documentEnvironment } from "./environment.ts";
import { blocksStart, type Failure } from "./failures.ts";
import type { ContainerSpec } from "./spec.ts";
import type { PlatformEvent } from "./transitions/events.ts";
import type { Replica } from "./transitions/state.ts";

export interface ReplicaHost {
  key: ResourceKey;
  location: string;
  boot: BootControl;
  failure(): Failure | undefined;
  globalEndpoint(): string;
  dispatch(event: PlatformEvent): void;
}

/** The processes and the address of one replica. It is told what to do and says what came of it. */
export class ReplicaRunner {
  readonly id: string;
  readonly address: string;
  readonly #replica: Replica;
  readonly #host: ReplicaHost;
  readonly #context: PlatformContext;
  readonly #token: string;
  readonly #relays = new Set<Relay>();
  readonly #containers = new Map<string, ContainerRunner>();
  readonly #timers = new Set<() => void>();
  #phase: "live" | "killed" = "live";

  constructor(replica: Replica, host: ReplicaHost, context: PlatformContext) {
    this.id = replica.id;
    this.#replica = replica;
    this.#host = host;
    this.#context = context;
    this.address = context.block.allocate();
    this.#token = context.callers.admit(host.key, host.location, this.address);
  }

  get pids(): number[] {
    return [...this.#containers.values()].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  boot(): void {
    const failure = this.#reasonNotToStart();
    if (failure !== undefined) {
      this.#host.dispatch({ type: "boot-failed", replica: this.id, failure });
      return;
    }
    const { options } = this.#context;
    const fromImages = Math.max(0, ...[...this.#containers.values()].map(({ image }) => image.bootMs ?? 0));
    const delayMs = this.#host.boot.delays.ms ?? options.bootMs ?? fromImages;
    if (delayMs > 0) this.#after(delayMs, () => this.#booted());
    else this.#booted();
  }

  #booted(): void {
    const held = this.#host.boot.at("start", this.#replica.name);
    const go = () => {
      // A failure that was injected while it was booting stops it here.
      const failure = this.#reasonNotToStart();
      if (failure !== undefined) {
        return this.#host.dispatch({ type: "boot-failed", replica: this.id, failure });
      }
      const closedPorts = this.#host.boot.latePorts();
      this.#host.dispatch({ type: "booted", replica: this.id, closedPorts });
      for (const port of closedPorts) this.#openLater(port);
    };
    if (held === undefined) {
      go();
      return;
    }
    void held.then(() => {
      if (this.#phase === "live") go();
    });
  }

  #openLater(port: number): void {
    this.#after(this.#host.boot.delays.ports?.[port] ?? 0, () => {
      const open = () => this.#host.dispatch({ type: "port-opened", replica: this.id, port });
      const held = this.#host.boot.at({ port }, this.#replica.name);
      if (held === undefined) open();
      else void held.then(open);
    });
  }

  #reasonNotToStart(): Failure | undefined {
    const injected = this.#host.failure();
    if (injected !== undefined && blocksStart(injected)) return injected;
    const { options } = this.#context;
    for (const spec of this.#replica.spec.containers) {
      const image = options.images.find(spec.image);
      if (image === undefined) return { kind: "image-pull" };
      const env = this.#documentEnvironment(spec);
      if (env.kind === "secret-missing") {
        const message = `${spec.name}: CreateContainerConfigError: secret "${env.secret}" not found or not permitted`;
        return { kind: "secret-missing", message };
      }
      if (!this.#containers.has(spec.name)) this.#containers.set(spec.name, this.#runner(spec, image));
    }
    return undefined;
  }

  #runner(spec: ContainerSpec, image: ContainerRunner["image"]): ContainerRunner {
    const names = { replica: this.id, container: spec.name };
    const tell = this.#host.dispatch;
    return new ContainerRunner(spec, image, this.address, this.#context.options.clock, {
      onStarted: (hasReadiness) => tell({ type: "container-started", ...names, hasReadiness }),
      onReady: (ready) => tell({ type: "container-ready", ...names, ready }),
      onExited: (exitCode, reason) => tell({ type: "container-exited", ...names, exitCode, reason }),
    });
  }

  start(name: string): void {
    const container = this.#containers.get(name);
    if (container === undefined || this.#phase === "killed") return;
    const failure = this.#host.failure();
    if (failure?.kind === "crash-loop") {
      const exitCode = failure.exitCode ?? 1;
      const event = { type: "container-exited", replica: this.id, container: name } as const;
      this.#host.dispatch({ ...event, exitCode, reason: exitCode === 0 ? "Completed" : "Error" });
      return;
    }
    container.holdUnready(failure?.kind === "never-ready");
    void container.start(
      () => this.#containerContext(container.spec),
      () => this.#host.boot.at("ready", this.#replica.name),
    );
  }

  /** An injected failure began or ended. */
  failureChanged(): void {
    const failure = this.#host.failure();
    for (const container of this.#containers.values()) {
      container.holdUnready(failure?.kind === "never-ready");
      if (failure?.kind === "crash-loop") void container.crash("Error");
    }
  }

  preStop(name: string, graceMs: number): void {
    const container = this.#containers.get(name);
    const done = (ok: boolean) => {
      if (!ok) this.#say(name, "preStop is missing or failed: all containers are killed at once");
      this.#host.dispatch({ type: "pre-stop-done", replica: this.id, container: name, ok });
    };
    if (container === undefined) done(true);
    else void container.preStop(graceMs).then(done, () => done(false));
  }

  signal(name: string, signal: "SIGTERM" | "SIGINT"): void {
    this.#containers.get(name)?.signal(signal);
  }

  attach(relay: Relay): void {
    this.#relays.add(relay);
  }

  detach(relay: Relay): void {
    this.#relays.delete(relay);
  }

  /** Everything ends now: connections, processes, the right to call. */
  async kill(): Promise<void> {
    if (this.#phase === "killed") return;
    this.#phase = "killed";
    for (const cancel of this.#timers) cancel();
    for (const relay of this.#relays) relay.cut("close");
    this.#relays.clear();
    await Promise.all([...this.#containers.values()].map((container) => container.kill()));
    this.#context.callers.dismiss(this.#token);
    this.#host.dispatch({ type: "released", replica: this.id });
  }

  #after(delayMs: number, run: () => void): void {
    const cancel = this.#context.options.clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }

  #documentEnvironment(spec: ContainerSpec) {
    const { store, mayReveal } = this.#context.options;
    return documentEnvironment(
      store,
      this.#host.key,
      spec,
      (secret) => mayReveal?.(this.#host.key, secret) ?? true,
    );
  }

  #containerContext(spec: ContainerSpec): Promise<ContainerContext> {
    const own = this.#documentEnvironment(spec);
    return containerContext(spec, this.#context, {
      key: this.#host.key,
      location: this.#host.location,
      replica: this.#replica,
      address: this.address,
      token: this.#token,
      globalEndpoint: this.#host.globalEndpoint(),
      env: own.kind === "complete" ? own.env : {},
      log: (stream, line) => this.#log(spec.name, stream, line),
    });
  }

  #say(container: string, line: string): void {
    this.#log(container, "platform", line);
  }

  #log(container: string, stream: "stdout" | "stderr" | "platform", line: string): void {
    const { key: workload, location } = this.#host;
    this.#context.log({ workload, location, replica: this.#replica.name, container, stream, text: line });
  }
}
