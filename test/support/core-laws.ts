import {
  DOUBT_READ_MS,
  EXTRA_LOOKS,
  FOREIGN_UNDO_MS,
  GRACE_MARGIN_MS,
  PROBES_IN_FLIGHT_CAP,
  TURNED_DOWN_LOOK_MS,
  TURNED_DOWN_TARGETS,
} from "../../proxy-image/src/core/limits.ts";
import type {
  ConnectionStage,
  Effect,
  Event,
  Note,
  TargetConfig,
  TargetState,
} from "../../proxy-image/src/core/types.ts";
import { OWN_GRACE_MARGIN_MS } from "../../src/contract/drain.ts";
import type { Platform, WriteCall } from "./core-platform.ts";
import type { Generation } from "./core-target.ts";
import type { Timeline } from "./core-time.ts";

export class LawBroken extends Error {}

/** What a law needs to know of a proxy. */
export interface Watched {
  readonly name: string;
  readonly config: TargetConfig;
  readonly state: TargetState;
  /** In a lane are those who passed without asking, spliced or on their way. */
  count(stage: ConnectionStage | "lane", port?: number): number;
  /** Probes of the port under way. */
  looking(port: number): number;
  readonly clients: ReadonlyMap<number, WatchedClient>;
}

export interface WatchedClient {
  readonly id: number;
  readonly port: number;
  readonly stage: ConnectionStage | "lane" | "gone";
  readonly splicedAt: number | undefined;
  readonly unproved: boolean;
  readonly turnedAway: boolean;
  readonly stranger: boolean;
}

/** The doubt about a suspend is settled by reads that agree for this long. */
const SETTLED_MS = 30_000;
/** No retry of a failing call is further away than this while somebody is held. */
const HELD_RETRY_MS = 8_000;

const STAGES = ["waiting", "connecting", "spliced"] as const;
/** Those of the poll interval, the extra ones, and the one when the deployment turns ready. */
const LOOKS_AT_ONCE = PROBES_IN_FLIGHT_CAP + EXTRA_LOOKS + 1;
const LOOKS_LAW = `4.4: at most ${LOOKS_AT_ONCE} looks at a port at once`;

/**
 * How many writes one proxy may make in any minute: two for each idle-hold that fits (a wake and a suspend), the
 * bucket's three tries and its trickle of twelve, and one each for a foreign and a late suspend undone and for the
 * version that a platform does not take.
 */
export function writesAMinute(config: TargetConfig): number {
  return 2 * Math.ceil(60_000 / Math.max(config.idleHoldMs, 1_000)) + 3 + 12 + 3;
}

/**
 * How many looks one proxy may take at a target in any second: twenty, or its share of eighty, where nobody listens and
 * looks are over at once; for each port those of the poll interval or beside mute connections, one when its deployment turns ready, and those
 * around the boot that is expected.
 */
export function looksASecond(config: TargetConfig): number {
  const { ports, wakePollIntervalMs, probeWindowMs, targets } = config;
  const regular = Math.ceil(1_000 / Math.min(wakePollIntervalMs, probeWindowMs)) + 1;
  const soon = 1_000 / TURNED_DOWN_LOOK_MS / Math.max(1, targets / TURNED_DOWN_TARGETS);
  return soon + 1 + ports.length * (regular + 1 + EXTRA_LOOKS);
}

/**
 * What must hold of a proxy at every moment, in every order of events. The numbers are those of the rules of a
 * target's lifecycle in the design.
 */
export class Laws {
  private readonly under = { read: 0, status: 0, write: 0 };
  private readonly writes: number[] = [];
  private readonly reads: number[] = [];
  private readonly looks: number[] = [];
  /** When a client last left that counts as use of the target. */
  lastUseAt = Number.NEGATIVE_INFINITY;
  private everRead = false;
  private obeyUntil = 0;
  private undoneAt = Number.NEGATIVE_INFINITY;
  private readonly seen = { undone: 0, obeyed: 0 };
  /** Suspends that others made, and own ones that came too late to be told from them. */
  foreignSuspends = 0;

  private readonly proxy: Watched;
  private readonly time: Timeline;

  constructor(proxy: Watched, time: Timeline) {
    this.proxy = proxy;
    this.time = time;
  }

  beforeStep(event: Event): void {
    if (event.type === "read" || event.type === "read-failed") this.under.read -= 1;
    if (event.type === "status" || event.type === "status-failed") this.under.status -= 1;
    if (event.type === "written" || event.type === "write-failed") this.under.write -= 1;
    if (event.type === "read") this.everRead = true;
    if (event.type === "read" && !event.snapshot.suspended) this.obeyUntil = 0;
  }

  beforeEffects(effects: readonly Effect[]): void {
    const drops = effects.some(({ type }) => type === "drop");
    const writes = effects.some((effect) => effect.type === "write" && !effect.suspend);
    this.check(!drops || !writes, "nothing is written for clients that are turned away");
    this.check(
      !drops || this.proxy.state.phase !== "awake",
      "nobody is turned away from a target that is awake",
    );
  }

  private noted(note: Note): void {
    const { now } = this.time;
    if (note.event === "target_missing" || note.event === "target_recreated") {
      this.obeyUntil = 0;
      this.undoneAt = Number.NEGATIVE_INFINITY;
    }
    if (note.event === "foreign_suspend_obeyed") {
      this.seen.obeyed += 1;
      this.obeyUntil = now + FOREIGN_UNDO_MS;
    }
    if (note.event === "foreign_suspend_undone") {
      this.seen.undone += 1;
      this.check(
        now - this.undoneAt >= FOREIGN_UNDO_MS,
        "4.8: a foreign suspend is undone once in ten minutes",
      );
      this.undoneAt = now;
    }
    const most = Math.max(this.seen.obeyed, this.seen.undone);
    this.check(most <= this.foreignSuspends, "4.8: only what others did is called foreign");
  }

  beforeEffect(before: TargetState, effect: Effect): void {
    const { state } = this.proxy;
    if (effect.type === "read") {
      this.under.read += 1;
      this.check(this.under.read === 1, "one read at a time");
      this.check(this.rate(this.reads) <= 80, "reads stay below 80 a minute");
    }
    if (effect.type === "read-status") {
      this.under.status += 1;
      this.check(this.under.status === 1, "one read of the status at a time");
    }
    if (effect.type === "probe") {
      this.check(state.phase !== "suspending", "nothing is probed while a suspend is under way");
      const most = looksASecond(this.proxy.config);
      this.check(this.rate(this.looks, 1_000) <= most, `4.4: at most ${most} looks a second`);
    }
    if (effect.type === "connect-anyway") {
      this.check(state.phase !== "suspending", "4.3: nobody is connected while a suspend is under way");
    }
    if (effect.type === "note") this.noted(effect.note);
    if (effect.type !== "write") return;
    this.under.write += 1;
    this.check(this.under.write === 1, "4.2: one write at a time");
    const most = writesAMinute(this.proxy.config);
    this.check(this.rate(this.writes) <= most, `4.7: at most ${most} writes a minute`);
    this.check(state.workload?.mode !== "paused", "4.8: no write while paused");
    this.check(state.workload?.otherScaler === undefined, "4.8: no write under another scaler");
    this.check(this.obeyUntil <= this.time.now, "4.8: no write while a foreign suspend is obeyed");
    if (effect.suspend) this.suspending(before, effect.version);
    else this.waking(before, effect.version);
  }

  private suspending(before: TargetState, version: number | undefined): void {
    const { state, config } = this.proxy;
    const { now } = this.time;
    this.check(state.phase === "suspending", "4.1: the gate closes in the step that decides to suspend");
    const stages = [...STAGES, "lane"] as const;
    const needed = stages.reduce((sum, stage) => sum + this.proxy.count(stage), 0);
    this.check(needed === 0, "4.1: no suspend while anybody needs the target");
    this.check(this.everRead && state.workload !== undefined, "4.10: no suspend before a read has succeeded");
    const drained = config.ownGraceMs === undefined ? 0 : config.ownGraceMs + OWN_GRACE_MARGIN_MS;
    const first = state.startedAt + Math.max(config.idleHoldMs, drained);
    this.check(now >= first, "4.5: no suspend while the replica before may be draining");
    this.check(state.lifecycle === "serving", "5: no suspend while draining");
    this.check(state.workload?.mode !== "always-on", "4.8: no suspend of a target that is always on");
    if (state.versioned)
      this.check(version === state.workload?.version, "4.2: a suspend carries the version read");
    const readAt = state.workload?.readAt ?? Number.NEGATIVE_INFINITY;
    this.check(
      readAt > (before.writeTrouble?.suspend ? before.writeTrouble.at : Number.NEGATIVE_INFINITY) ||
        before.writeTrouble?.failure.kind === "invalid",
      "4.2: after a failed suspend it is read again before it is decided again",
    );
    if (before.phase === "suspending" || before.failedGenerations >= 2 || state.failedGenerations >= 2)
      return;
    this.check(now - this.lastUseAt >= config.idleHoldMs, "4.5: no suspend before the idle-hold is over");
  }

  private waking(before: TargetState, version: number | undefined): void {
    this.check(version === undefined, "4.2: an un-suspend carries no version");
    const wanted = this.proxy.state.ports.some(
      (port) => port.waiting + port.connecting + port.spliced + port.lane > 0,
    );
    this.check(wanted, "an un-suspend is for somebody");
    const running = before.workload?.suspended === false && this.proxy.state.workload?.suspended === false;
    const doubtful = before.doubt !== undefined || before.phase === "suspending" || before.phase === "waking";
    this.check(!running || doubtful, "4.4: no un-suspend of a target that reads un-suspended");
  }

  afterStep(alarmAt: number | undefined): void {
    const { state } = this.proxy;
    const { now } = this.time;
    this.check(alarmAt === undefined || alarmAt > now, "an alarm lies in the future");
    this.check(
      alarmAt !== undefined || state.read !== undefined || state.write !== undefined,
      "something is always to come: an alarm, or the answer to a call",
    );
    for (const port of state.ports) {
      const least = Math.min(port.waiting, port.connecting, port.spliced, port.lane);
      this.check(least >= 0, `counts of port ${port.port} are never negative`);
    }
    if (state.phase === "suspended" || state.phase === "waking" || state.phase === "starting") {
      this.check(
        state.ports.every((port) => !port.proved),
        `4.3: nothing is proved of a target that is ${state.phase}`,
      );
    }
    if (state.doubt && !state.readTrouble && !state.read && !state.write) {
      const latest = Math.max(now, (state.readAt ?? now) + DOUBT_READ_MS);
      this.check(
        (alarmAt ?? Number.POSITIVE_INFINITY) <= latest,
        "4.2: reads follow while an outcome is unknown",
      );
    }
    const { writeTrouble } = state;
    const held = state.ports.some((port) => port.waiting + port.connecting > 0);
    if (state.phase !== "waking" || state.write || !held || !writeTrouble || writeTrouble.suspend) return;
    if (writeTrouble.failure.kind === "quota" || state.failure) return;
    if (
      state.workload?.mode === "paused" ||
      state.workload?.otherScaler ||
      state.foreign.obeyUntil !== undefined
    )
      return;
    const latest = Math.max(writeTrouble.at + HELD_RETRY_MS, writeTrouble.notBefore);
    this.check(
      (alarmAt ?? Number.POSITIVE_INFINITY) <= latest,
      "4.7: tries are at most 8 s apart while anybody is held",
    );
  }

  /** Nothing is left to be handed over: what the core counts is what is there. */
  atRest(): void {
    const { state, clients } = this.proxy;
    let through = 0;
    const there = state.ports.map(() => ({ waiting: 0, connecting: 0, spliced: 0 }));
    for (const { port, stage } of clients.values()) {
      const counts = there[state.ports.findIndex((each) => each.port === port)];
      if (!counts || stage === "gone") continue;
      // Core hears of a lane before its next step: until then its count is of the last one.
      if (stage !== "lane") counts[stage] += 1;
      if (stage !== "waiting") through += 1;
    }
    for (const [index, port] of state.ports.entries()) {
      for (const stage of STAGES) {
        const count = there[index]?.[stage];
        if (port[stage] !== count)
          this.check(false, `${port.port}: ${count} ${stage} clients are counted as ${port[stage]}`);
      }
      const looking = this.proxy.looking(port.port);
      if (port.looks.length !== looking)
        this.check(false, `${port.port}: ${looking} looks under way are ${port.looks}`);
      this.check(looking <= LOOKS_AT_ONCE, LOOKS_LAW);
    }
    if (state.phase === "suspending" || state.write?.suspend) {
      this.check(through === 0, "4.1: nobody is let through from the decision to suspend until its outcome");
    }
  }

  /** A suspend of this proxy is carried out now. */
  applied(call: WriteCall, graceMs: number): void {
    if (!call.suspend) return;
    if (call.givenUpAt !== undefined) this.foreignSuspends += 1;
    let harmed = 0;
    for (const client of this.proxy.clients.values()) {
      if (client.splicedAt !== undefined && !client.unproved) harmed += 1;
    }
    this.check(
      harmed === 0 || this.excused(call, graceMs),
      "4.1: the proxy's own suspend never hits a session",
    );
  }

  /** A client is about to be joined to this generation. */
  spliced(client: WatchedClient, generation: Generation, platform: Platform): void {
    const call = generation.endedBy;
    if (client.unproved || call?.by !== this.proxy) return;
    // Somebody else ended newer replicas in the moments since: that is not this proxy's doing.
    if (generation.overtaken) return;
    this.check(
      this.excused(call, platform.now.graceMs),
      "4.3: nobody is spliced to replicas that the proxy's own suspend is ending",
    );
  }

  left(client: WatchedClient): void {
    if (!client.turnedAway && !client.stranger) this.lastUseAt = this.time.now;
  }

  /**
   * A suspend given up as unknown may be carried out later than anybody waits for: after reads have agreed for 30 s
   * that it was not, or after the old replicas' grace. And where the platform takes no version, an un-suspend that
   * was accepted meanwhile does not keep it from being carried out.
   */
  private excused(call: WriteCall, graceMs: number): boolean {
    // Without its version a suspend may meet a grace that nobody has read.
    const longer = (call.graceMs ?? 0) > (call.knownGraceMs ?? 0);
    if (call.version === undefined && longer) return true;
    if (call.givenUpAt === undefined) return false;
    // Versions begin anew with a workload that is created anew, so an old one may fit again.
    if (call.version === undefined || call.strayed) return true;
    const late = (call.appliedAt ?? this.time.now) >= call.givenUpAt;
    // A grace that somebody made longer since is not known before the next read.
    const known = Math.max(call.knownGraceMs ?? 0, this.proxy.state.workload?.graceMs ?? graceMs);
    const waited = Math.min(SETTLED_MS, Math.min(graceMs, known) + GRACE_MARGIN_MS);
    return late && this.time.now - call.givenUpAt >= waited;
  }

  private rate(times: number[], withinMs = 60_000): number {
    const { now } = this.time;
    times.push(now);
    while ((times[0] ?? now) <= now - withinMs) times.shift();
    return times.length;
  }

  private check(holds: boolean, law: string): void {
    if (!holds) throw new LawBroken(`${this.proxy.name} at ${this.time.now} ms: ${law}`);
  }
}
