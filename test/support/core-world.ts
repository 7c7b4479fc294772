import { GRACE_MARGIN_MS, READ_SPACING_MS } from "../../proxy-image/src/core/limits.ts";
import type { CallFailureKind, Mode, Phase, TargetConfig } from "../../proxy-image/src/core/types.ts";
import { LawBroken } from "./core-laws.ts";
import {
  type CallPoint,
  type Fault,
  Platform,
  type PlatformSettings,
  type WriteCall,
} from "./core-platform.ts";
import { type Client, ProxyModel, type RuntimeSettings } from "./core-proxy.ts";
import { type Boots, Target, type TargetSettings } from "./core-target.ts";
import { Luck, Timeline } from "./core-time.ts";

export interface WorldSettings {
  /** Decides everything that is left to chance. */
  seed: number;
  config: TargetConfig;
  runtime: RuntimeSettings;
  platform: PlatformSettings;
  target: Omit<TargetSettings, "ports">;
  boots: Boots;
  suspended: boolean;
  graceMs: number;
}

/**
 * One thing that happens, `waitMs` after the one before, or that much after an idle-hold since then, or after a call
 * has come to a point; one that does not come there for long is not waited for.
 */
export type Happening = {
  waitMs: number;
  afterIdle?: boolean | undefined;
  afterPoint?: CallPoint | undefined;
} & (
  | { what: "arrive"; port: number; clients: number; patienceMs: number; sessionMs: number }
  | { what: "leave"; which: number }
  | { what: "fault"; of: "reads" | "writes" | "statuses" | "all"; fault: Fault; forMs: number }
  | { what: "suspend" | "unsuspend" | "edit" | "remove" | "heal" }
  | { what: "create"; suspended: boolean }
  | { what: "mode"; mode: Mode }
  | { what: "scaler"; scaler: string | undefined }
  | { what: "grace"; graceMs: number }
  | { what: "boots"; boots: Boots }
  | { what: "status"; lagMs: number; readable: boolean }
  | { what: "freeze"; forMs: number }
  | { what: "restart"; crash: boolean }
);

export interface Story {
  settings: WorldSettings;
  happenings: Happening[];
  /** Whether clients insist at the end, or nobody comes any more. */
  ending: "clients" | "quiet";
}

/** How long the trouble of before may still be felt: a quota's or `Retry-After`'s pause, or a failure's. */
const AFTERMATH_MS = 150_000;
/** How long, beside an idle-hold, a point of a call is waited for. */
const POINT_PATIENCE_MS = 40_000;
/** How long the target boots once the trouble is over. */
const BOOT_MS = 2_000;

/** Tells a story from its first word to its end, and throws `LawBroken` where a law is broken. */
export function tell(story: Story, trace?: (line: string) => void): World {
  const world = new World(story.settings, trace);
  for (const happening of story.happenings) {
    const idleMs = happening.afterIdle ? story.settings.config.idleHoldMs : 0;
    if (happening.afterPoint) world.advanceTo(happening.afterPoint);
    world.advance(happening.waitMs + idleMs);
    world.happen(happening);
  }
  world.settle();
  if (story.ending === "clients") world.expectService();
  world.expectSleep();
  return world;
}

/** Everything around the core: a platform, a target, clients, other people, and time. */
export class World {
  readonly time = new Timeline();
  readonly luck: Luck;
  readonly target: Target;
  readonly platform: Platform;
  /** The last one takes new clients; those before it drain. */
  readonly proxies: ProxyModel[] = [];
  private clients = 0;
  private lateUntil = 0;
  private faultEnds: Record<string, number> = {};

  readonly settings: WorldSettings;
  private readonly trace: ((line: string) => void) | undefined;

  constructor(settings: WorldSettings, trace: ((line: string) => void) | undefined) {
    this.settings = settings;
    this.trace = trace;
    this.luck = new Luck(settings.seed);
    const { config, boots, platform, suspended, graceMs } = settings;
    this.target = new Target(
      this.time,
      this.luck,
      { ...settings.target, ports: config.ports },
      (generation) => {
        for (const proxy of this.proxies) if (proxy.alive) proxy.generationDied(generation);
      },
      () => this.platform.noteStatus(),
    );
    this.target.boots = boots;
    this.platform = new Platform(this.time, this.luck, this.target, { ...platform }, { suspended, graceMs });
    this.platform.onApplied = (call) => this.applied(call);
    this.startProxy();
  }

  get proxy(): ProxyModel {
    return this.proxies.at(-1) as ProxyModel;
  }

  advance(ms: number): void {
    this.time.runUntil(this.time.now + ms);
  }

  advanceTo(point: CallPoint): void {
    const { passed } = this.platform;
    const before = passed.get(point);
    const patienceMs = this.settings.config.idleHoldMs + POINT_PATIENCE_MS;
    this.time.runUntil(this.time.now + patienceMs, () => passed.get(point) !== before);
  }

  happen(happening: Happening): void {
    this.trace?.(`${this.time.now} -- ${JSON.stringify(happening)}`);
    const { platform, target, time } = this;
    switch (happening.what) {
      case "arrive":
        for (let count = 0; count < happening.clients; count += 1) {
          const stranger = this.luck.chance(this.settings.runtime.strangers);
          this.arrive(happening.port, happening.patienceMs, happening.sessionMs, stranger);
        }
        return;
      case "leave": {
        const clients = [...this.proxies.flatMap((proxy) => [...proxy.clients.values()])];
        const client = clients[happening.which % clients.length];
        if (client) for (const proxy of this.proxies) if (proxy.clients.has(client.id)) proxy.leave(client);
        return;
      }
      case "fault":
        this.fault(happening.of, happening.fault, happening.forMs);
        return;
      case "suspend":
        if (!platform.now.suspended) for (const proxy of this.proxies) proxy.laws.foreignSuspends += 1;
        platform.edit({ suspended: true });
        return;
      case "unsuspend":
        platform.edit({ suspended: false });
        return;
      case "edit":
        platform.edit({});
        return;
      case "remove":
        platform.remove();
        return;
      case "create":
        for (const proxy of this.proxies) proxy.laws.foreignSuspends += 1;
        platform.create(happening.suspended);
        return;
      case "mode":
        platform.edit({ mode: happening.mode });
        return;
      case "scaler":
        platform.edit({ otherScaler: happening.scaler });
        return;
      case "grace":
        platform.edit({ graceMs: happening.graceMs });
        return;
      case "boots":
        target.boots = happening.boots;
        return;
      case "heal":
        target.heal();
        return;
      case "status":
        platform.statusLagMs = happening.lagMs;
        platform.statusReadable = happening.readable;
        return;
      case "freeze":
        this.proxy.freeze(time.now + happening.forMs);
        return;
      case "restart":
        this.restart(happening.crash);
        return;
      default:
        happening satisfies never;
    }
  }

  arrive(portIndex: number, patienceMs: number, sessionMs: number, stranger = false): Client {
    const { ports } = this.settings.config;
    const port = ports[portIndex % ports.length] as number;
    return this.proxy.arrive(++this.clients, port, patienceMs, sessionMs, stranger);
  }

  /** The trouble ends: the API answers, the target boots, nobody meddles. What was given up as unknown has landed. */
  settle(): void {
    this.trace?.(`${this.time.now} -- trouble ends`);
    this.platform.faults = { reads: undefined, writes: undefined, statuses: undefined };
    this.faultEnds = {};
    this.advance(Math.max(0, Math.max(this.lateUntil, this.proxy.frozenUntil) - this.time.now));
    this.platform.settings.staleReads = 0;
    if (!this.platform.exists) this.platform.create(false);
    const { mode, otherScaler } = this.platform.now;
    if (mode !== "normal" || otherScaler) this.platform.edit({ mode: "normal", otherScaler: undefined });
    this.target.boots = { delaysMs: [BOOT_MS], fails: undefined };
    this.target.heal();
  }

  /** A client that comes back whenever it is dropped is served on every port. */
  expectService(): void {
    const { config, runtime, platform, target } = this.settings;
    const waiting = new Map(config.ports.map((_, index) => [index, this.arrive(index, 1e9, 1e9)]));

    const proof =
      this.platform.now.graceMs + GRACE_MARGIN_MS + config.probeWindowMs + config.wakePollIntervalMs;
    const calm = this.isCalm("suspended") && this.time.now > (this.proxy.state.drainedAt ?? 0);
    // Calm: the calls, the boot, and the look that finds it. The clock of this loop ticks in seconds.
    const look = 2 * (config.wakePollIntervalMs + config.probeWindowMs) + 1_500;
    const within = calm
      ? BOOT_MS + target.unreadyMs + look + 8 * platform.latencyMs
      : AFTERMATH_MS + target.unreadyMs + proof + runtime.maxHoldMs + 20 * platform.latencyMs;
    let until = this.time.now + within;
    while (waiting.size > 0) {
      // A suspend that somebody else insisted on is obeyed for its time.
      until = Math.max(until, (this.proxy.state.foreign.obeyUntil ?? 0) + within);
      if (this.time.now > until)
        throw this.broken(`every client is served within ${within} ms (${calm ? "calm" : "after trouble"})`);
      this.advance(1_000);
      for (const [index, client] of waiting) {
        if (client.splicedAt !== undefined) waiting.delete(index);
        else if (client.stage === "gone") waiting.set(index, this.arrive(index, 1e9, 1e9));
      }
    }
  }

  /** With nobody there any more the target is suspended. */
  expectSleep(): void {
    for (const proxy of this.proxies) for (const client of [...proxy.clients.values()]) proxy.leave(client);
    const { config, platform } = this.settings;
    const { state } = this.proxy;
    const calm = this.isCalm("awake");
    const drained = config.ownGraceMs === undefined ? 0 : config.ownGraceMs + 15_000;
    const first = state.startedAt + Math.max(config.idleHoldMs, drained);
    // Who left just now need not have used it: strangers keep nothing awake beyond their own end.
    const since = calm ? Math.max(this.proxy.laws.lastUseAt, state.generation.readyAt ?? 0) : this.time.now;
    const due = Math.max(since + config.idleHoldMs, first, this.time.now);
    // Calm: the read made for the decision and the write. Else whatever is left of earlier trouble, too.
    const calls = 6 * platform.latencyMs + READ_SPACING_MS;
    const proof =
      this.platform.now.graceMs + GRACE_MARGIN_MS + 2 * config.probeWindowMs + config.wakeTimeoutMs;
    const within = calm ? calls : calls + AFTERMATH_MS + proof + 4 * config.watchIntervalMs;
    while (this.time.now < due + within && !this.platform.now.suspended) {
      this.advance(Math.min(1_000, due + within - this.time.now));
    }
    if (!this.platform.now.suspended) {
      throw this.broken(
        `an idle target (${calm ? "calm" : "after trouble"}) is suspended within ${within} ms of its time`,
      );
    }
    this.advance(10 * platform.latencyMs);
  }

  /** The proxy is in this phase, nothing troubles it, and it knows how things are. */
  private isCalm(phase: Phase): boolean {
    const { state } = this.proxy;
    const { now } = this.platform;
    const current = state.workload?.id === now.id && state.workload.version === now.version;
    const calling = state.read || state.write;
    const troubled =
      state.readTrouble || state.writeTrouble || state.doubt || state.failure || state.foreign.obeyUntil;
    return (
      state.phase === phase && current && !calling && !troubled && this.settings.runtime.strayFailures === 0
    );
  }

  private fault(of: "reads" | "writes" | "statuses" | "all", fault: Fault, forMs: number): void {
    const kinds = of === "all" ? (["reads", "writes", "statuses"] as const) : [of];
    const until = this.time.now + forMs;
    this.lateUntil = Math.max(this.lateUntil, until + 16_000 + (fault.landing === "late" ? fault.lateMs : 0));
    for (const kind of kinds) {
      this.platform.faults[kind] = fault;
      this.faultEnds[kind] = until;
      this.time.at(until, () => {
        if (this.faultEnds[kind] === until) this.platform.faults[kind] = undefined;
      });
    }
  }

  private restart(crash: boolean): void {
    const old = this.proxy;
    if (crash) old.kill();
    else {
      old.drain();
      this.time.at(this.time.now + (this.settings.config.ownGraceMs ?? 20_000), () => old.kill());
    }
    this.startProxy();
  }

  private startProxy(): void {
    const { time, luck, platform, target, trace } = this;
    const stamped = trace && ((line: string) => trace(`${time.now} ${line}`));
    const surroundings = { time, luck, platform, target, runtime: this.settings.runtime, trace: stamped };
    const proxy = new ProxyModel(`proxy ${this.proxies.length + 1}`, this.settings.config, surroundings);
    // What a replica before did is foreign to this one; and so may an old copy seem that is newer than what it knows.
    if (this.proxies.length > 0) proxy.laws.foreignSuspends = 1;
    if (this.settings.platform.staleReads > 0) proxy.laws.foreignSuspends = Number.POSITIVE_INFINITY;
    this.proxies.push(proxy);
  }

  private applied(call: WriteCall): void {
    this.trace?.(`${this.time.now} -- applied: ${call.suspend ? "suspend" : "un-suspend"} of ${call.sentAt}`);
    const { graceMs } = this.platform.now;
    const owner = call.by as ProxyModel;
    owner.laws.applied(call, graceMs);
    if (call.suspend) for (const proxy of this.proxies) if (proxy !== owner) proxy.laws.foreignSuspends += 1;
    // The replica before may still drain its sessions: a suspend must not end them either.
    const { ownGraceMs } = this.settings.config;
    if (!call.suspend || ownGraceMs === undefined || call.givenUpAt !== undefined) return;
    const before = this.proxies.slice(0, this.proxies.indexOf(owner));
    const drained = before.every(
      (proxy) => !proxy.alive || proxy.count("spliced") + proxy.count("lane") === 0,
    );
    if (!drained) throw this.broken("4.5: no suspend under the sessions of the replica before");
  }

  private broken(law: string): LawBroken {
    return new LawBroken(`at ${this.time.now} ms: ${law}`);
  }
}

/** Every way in which a call can fail. */
export const CALL_FAILURES: readonly CallFailureKind[] = [
  "denied",
  "missing",
  "conflict",
  "throttled",
  "quota",
  "invalid",
  "unreachable",
  "server",
  "timeout",
  "broken",
];
