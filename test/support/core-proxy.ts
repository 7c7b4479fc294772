import { initialState } from "../../proxy-image/src/core/state.ts";
import { step } from "../../proxy-image/src/core/step.ts";
import type {
  ConnectFailure,
  ConnectionStage,
  Effect,
  Event,
  ProbeOutcome,
  TargetConfig,
  TargetState,
} from "../../proxy-image/src/core/types.ts";
import { LaneModel } from "./core-lanes.ts";
import { LawBroken, Laws } from "./core-laws.ts";
import type { Platform, WriteCall } from "./core-platform.ts";
import type { Generation, Target } from "./core-target.ts";
import type { Entry, Luck, Timeline } from "./core-time.ts";

export interface RuntimeSettings {
  maxHoldMs: number;
  /** Dials under way at once. */
  dials: number;
  /** Chance that the target's first byte comes later than the probe window. */
  slowBanners: number;
  /** Chance that a client's bytes are gone when its own connection fails. */
  bytesSpent: number;
  /** Chance that a dial or a probe fails for a reason of the proxy's own, such as its name server. */
  strayFailures: number;
  /** Chance that a client would not wake the target, and is let through to one that is awake all the same. */
  strangers: number;
  /** Chance that a client goes by the lane where it is open. */
  lanes: number;
}

export interface Client {
  readonly id: number;
  readonly port: number;
  readonly arrivedAt: number;
  readonly sessionMs: number;
  readonly stranger: boolean;
  stage: ConnectionStage | "lane" | "gone";
  /** It goes as soon as that can be said. */
  doomed: boolean;
  /** Connected because its hold was ending, without proof. */
  unproved: boolean;
  splicedAt: number | undefined;
  turnedAway: boolean;
  /** Its own connection to the target, if there is one. */
  dial: { begunAt: number; generation: Generation | undefined } | undefined;
}

export interface Surroundings {
  time: Timeline;
  luck: Luck;
  platform: Platform;
  target: Target;
  runtime: RuntimeSettings;
  trace: ((line: string) => void) | undefined;
}

/**
 * One proxy: the core with a model of the runtime around it. An event is made when it is handed to the core, so that
 * a client's stage and the core's counts never disagree.
 */
export class ProxyModel {
  state: TargetState;
  readonly clients = new Map<number, Client>();
  readonly laws: Laws;
  alive = true;
  private readonly lanes: LaneModel;
  private readonly inbox: (() => Event | undefined)[] = [];
  private busy = false;
  private alarm: Entry | undefined;
  frozenUntil = 0;
  private wasFrozen = false;
  /** What came up while the process did not run, in order. */
  private readonly backlog: (() => void)[] = [];
  private readonly queued: Client[] = [];
  private dialling = 0;
  private readonly looks = new Map<number, number>();

  readonly name: string;
  readonly config: TargetConfig;
  private readonly world: Surroundings;

  constructor(name: string, config: TargetConfig, world: Surroundings) {
    this.name = name;
    this.config = config;
    this.world = world;
    this.state = initialState(config, world.time.now);
    this.laws = new Laws(this, world.time);
    this.lanes = new LaneModel(
      {
        clients: this.clients,
        count: (stage, port) => this.count(stage, port),
        proved: (port) => this.proved(port),
        deliver: (event) => this.deliver(event),
        later: (delayMs, run) => this.later(delayMs, run),
        joined: (client) => this.joined(client),
      },
      world,
    );
    this.deliver(() => ({ type: "tick" }));
  }

  // What happens to the proxy.

  arrive(id: number, port: number, patienceMs: number, sessionMs: number, stranger = false): Client {
    const { now } = this.world.time;
    const client: Client = {
      id,
      port,
      arrivedAt: now,
      sessionMs,
      stranger,
      stage: "waiting",
      doomed: false,
      unproved: false,
      splicedAt: undefined,
      turnedAway: false,
      dial: undefined,
    };
    if (this.frozen || !this.lanes.take(client)) {
      this.deliver(() => {
        if (client.stranger && !this.proved(port)) {
          client.stage = "gone";
          return undefined;
        }
        this.clients.set(id, client);
        return { type: "arrived", port };
      });
    }
    this.later(this.world.runtime.maxHoldMs, () => this.endHold(client));
    this.later(patienceMs, () => {
      if (client.splicedAt === undefined) this.leave(client);
    });
    return client;
  }

  private proved(port: number): boolean {
    return this.state.ports.some((each) => each.port === port && each.proved);
  }

  private joined(client: Client): void {
    const { dial } = client;
    if (dial?.generation) this.laws.spliced(client, dial.generation, this.world.platform);
    this.later(client.sessionMs, () => this.leave(client));
  }

  leave(client: Client): void {
    if (client.doomed || client.stage === "gone") return;
    client.doomed = true;
    this.deliver(() => this.gone(client));
  }

  drain(): void {
    this.deliver(() => ({ type: "drain" }));
  }

  /** Nothing is heard of it any more; its sessions end with it. */
  kill(): void {
    this.alive = false;
    this.world.time.cancel(this.alarm);
    for (const client of this.clients.values()) client.stage = "gone";
    this.clients.clear();
  }

  /** The process does not run until then, and the world goes on. */
  freeze(until: number): void {
    this.wasFrozen = true;
    this.frozenUntil = Math.max(this.frozenUntil, until);
    this.world.time.at(until, () => {
      while (!this.frozen && this.backlog.length > 0) this.backlog.shift()?.();
    });
  }

  generationDied(generation: Generation): void {
    for (const client of this.clients.values()) {
      if (client.dial?.generation !== generation) continue;
      if (client.splicedAt !== undefined) this.leave(client);
      else if (client.stage === "lane") this.lanes.handOver(client);
      else this.fails(client, client.dial, this.world.luck.pick(["closed", "reset"] as const));
    }
  }

  count(stage: ConnectionStage | "lane", port?: number): number {
    let sum = 0;
    for (const client of this.clients.values()) {
      if (client.stage === stage && (port === undefined || client.port === port)) sum += 1;
    }
    return sum;
  }

  looking(port: number): number {
    return this.looks.get(port) ?? 0;
  }

  // Feeding the core.

  private deliver(event: () => Event | undefined): void {
    if (this.frozen) {
      this.backlog.push(() => this.deliver(event));
      return;
    }
    this.inbox.push(event);
    if (this.busy) return;
    this.busy = true;
    for (let next = this.inbox.shift(); next !== undefined; next = this.inbox.shift()) {
      if (!this.alive) continue;
      for (const event of this.lanes.shut(this.config.ports)) this.feed(event);
      const made = next();
      if (made) this.feed(made);
    }
    this.busy = false;
    if (!this.alive) return;
    this.lanes.reopen();
    this.laws.atRest();
  }

  private feed(event: Event): void {
    const { time, luck, trace } = this.world;
    const before = this.state;
    this.laws.beforeStep(event);
    const { state, effects, lanes, alarmAt } = step(this.config, before, event, {
      now: time.now,
      random: luck.next(),
    });
    this.state = state;
    this.lanes.openPorts = lanes;
    trace?.(`${this.name} ${JSON.stringify(event)}  ${before.phase}>${state.phase}`);
    this.laws.beforeEffects(effects);
    for (const effect of effects) {
      trace?.(`${this.name}   ${JSON.stringify(effect)}`);
      this.laws.beforeEffect(before, effect);
      this.perform(effect);
    }
    time.cancel(this.alarm);
    this.alarm = undefined;
    if (alarmAt !== undefined) this.alarm = this.at(alarmAt, () => this.deliver(() => ({ type: "tick" })));
    this.laws.afterStep(alarmAt);
  }

  private perform(effect: Effect): void {
    const { platform, time } = this.world;
    switch (effect.type) {
      case "read":
        platform.read((event) => this.deliver(() => event));
        return;
      case "read-status":
        platform.readStatus((event) => this.deliver(() => event));
        return;
      case "write": {
        const call: WriteCall = {
          by: this,
          suspend: effect.suspend,
          version: effect.version,
          sentAt: time.now,
          givenUpAt: undefined,
          appliedAt: undefined,
          workload: this.state.workload?.id,
          strayed: false,
          knownGraceMs: this.state.workload?.graceMs,
          graceMs: undefined,
        };
        platform.write(call, (event) => this.deliver(() => event));
        return;
      }
      case "probe":
        this.probe(effect.port);
        return;
      case "open":
        for (const client of this.clients.values()) {
          if (client.port === effect.port && client.stage === "waiting") this.connect(client);
        }
        return;
      case "connect-anyway": {
        const client = this.clients.get(effect.id);
        if (!client) return;
        client.unproved = true;
        this.connect(client);
        this.later(this.config.probeWindowMs, () => {
          if (client.stage !== "spliced") this.leave(client);
        });
        return;
      }
      case "recall":
        for (const client of this.clients.values()) {
          const { dial } = client;
          const concerned = client.port === effect.port && client.stage === "connecting";
          // A dial that waits its turn would be begun now.
          if (concerned && (dial?.begunAt ?? time.now) < effect.begunBefore) {
            this.fails(client, dial, "recalled");
          }
        }
        this.lanes.recall(effect.port);
        return;
      case "drop":
        for (const client of this.clients.values()) {
          if (client.splicedAt !== undefined) continue;
          client.turnedAway = true;
          this.leave(client);
        }
        return;
      case "note":
        return;
      default:
        effect satisfies never;
    }
  }

  // Connections.

  private connect(client: Client): void {
    client.stage = "connecting";
    client.dial = undefined;
    this.queued.push(client);
    this.dialNext();
  }

  private dialNext(): void {
    const { time, luck, target, runtime } = this.world;
    while (this.dialling < runtime.dials) {
      const client = this.queued.shift();
      if (!client) return;
      if (client.stage !== "connecting" || client.dial || client.doomed) continue;
      const generation = target.answering(client.port);
      const dial = { begunAt: time.now, generation };
      client.dial = dial;
      if (luck.chance(runtime.strayFailures)) {
        this.later(5_000, () => this.fails(client, dial, "timeout"));
        continue;
      }
      if (generation && !target.serves(generation, client.port)) {
        this.later(luck.between(1, 20), () =>
          this.fails(client, dial, luck.pick(["closed", "reset"] as const)),
        );
      } else if (generation) this.banner(client, dial, generation);
      else if (target.settings.nobody !== "silent") {
        const failure = target.settings.nobody;
        this.later(luck.between(1, 20), () => this.fails(client, dial, failure));
      }
      this.dialling += 1;
      this.later(luck.between(1, 20), () => {
        this.dialling -= 1;
        this.dialNext();
      });
      this.later(this.config.probeWindowMs + luck.between(0, 20), () => {
        if (client.stage !== "connecting" || client.dial !== dial || client.doomed) return;
        this.mustBeReplaced(client, dial);
        this.deliver(() =>
          client.stage === "connecting" && client.dial === dial
            ? { type: "mute", port: client.port }
            : undefined,
        );
      });
    }
  }

  /** A connection that nobody will ever answer does not keep its client from a target that answers others. */
  private mustBeReplaced(client: Client, dial: NonNullable<Client["dial"]>): void {
    const { target, runtime } = this.world;
    const before = target.serving(client.port);
    this.later(4 * this.config.probeWindowMs + 1_000, () => {
      if (client.dial !== dial || client.stage !== "connecting" || dial.generation) return;
      const lost =
        before !== undefined && before === target.serving(client.port) && runtime.strayFailures === 0;
      if (lost && !this.wasFrozen)
        throw new LawBroken(`${this.name}: 4: a mute connection is given up for an answer beside it`);
      this.mustBeReplaced(client, dial);
    });
  }

  private banner(client: Client, dial: NonNullable<Client["dial"]>, generation: Generation): void {
    const { time, luck, runtime } = this.world;
    const window = this.config.probeWindowMs;
    const slow = luck.chance(runtime.slowBanners);
    this.later(slow ? luck.between(window, 3 * window) : luck.between(1, Math.min(200, window - 1)), () => {
      if (time.now >= generation.diesAt) return;
      this.deliver(() => {
        if (client.stage !== "connecting" || client.dial !== dial || client.doomed) return undefined;
        client.stage = "spliced";
        client.splicedAt = time.now;
        this.joined(client);
        return { type: "spliced", port: client.port };
      });
    });
  }

  private fails(client: Client, dial: Client["dial"], failure: ConnectFailure): void {
    this.deliver(() => {
      if (client.stage !== "connecting" || client.dial !== dial || client.doomed) return undefined;
      // Its own bytes are gone with the connection: it can't begin again.
      if (this.world.luck.chance(this.world.runtime.bytesSpent)) return this.gone(client, true);
      client.stage = "waiting";
      client.dial = undefined;
      if (client.arrivedAt + this.world.runtime.maxHoldMs <= this.world.time.now) this.leave(client);
      return { type: "returned", port: client.port, failure };
    });
  }

  private endHold(client: Client): void {
    if (client.stage === "waiting") {
      this.deliver(() =>
        client.stage === "waiting" && !client.doomed
          ? { type: "hold-ending", port: client.port, id: client.id }
          : undefined,
      );
      if (client.unproved) return;
    }
    if (client.splicedAt === undefined) this.leave(client);
  }

  private gone(client: Client, unanswered = false): Event | undefined {
    const { stage, port } = client;
    if (stage === "gone") return undefined;
    client.stage = "gone";
    client.dial = undefined;
    this.clients.delete(client.id);
    this.laws.left(client);
    if (stage === "lane") {
      this.lanes.gone(client);
      return undefined;
    }
    const { stranger } = client;
    return {
      type: "left",
      port,
      from: stage,
      ...(unanswered ? { unanswered } : {}),
      ...(stranger ? { stranger } : {}),
    };
  }

  private probe(port: number): void {
    const { time, luck, target, runtime } = this.world;
    const startedAt = time.now;
    const window = this.config.probeWindowMs;
    const generation = target.answering(port);
    const report = (delayMs: number, outcome: ProbeOutcome) =>
      this.later(delayMs, () =>
        this.deliver(() => {
          this.looks.set(port, this.looking(port) - 1);
          return { type: "probed", port, startedAt, outcome };
        }),
      );
    this.looks.set(port, this.looking(port) + 1);
    const stray = luck.pick(["unreachable", "unready"] as const);
    const serves = generation && target.serves(generation, port);
    if (luck.chance(runtime.strayFailures)) report(luck.between(1, 200), stray);
    else if (!generation) {
      const { nobody } = target.settings;
      report(nobody === "silent" ? window : luck.between(1, 20), nobody);
    } else {
      const delay = luck.between(1, Math.min(200, window - 1));
      if (startedAt + delay >= generation.diesAt) report(delay, "reset");
      else report(delay, serves ? "answered" : "unready");
    }
  }

  /** Timers of a process that does not run go off when it runs again. */
  private at(time: number, run: () => void): Entry {
    return this.world.time.at(time, () => {
      if (!this.alive) return;
      if (this.frozen) this.backlog.push(run);
      else run();
    });
  }

  private get frozen(): boolean {
    return this.frozenUntil > this.world.time.now;
  }

  private later(delayMs: number, run: () => void): void {
    this.at(this.world.time.now + delayMs, run);
  }
}
