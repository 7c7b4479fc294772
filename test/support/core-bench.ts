import { describe, type TargetReport } from "../../proxy-image/src/core/describe.ts";
import { initialState } from "../../proxy-image/src/core/state.ts";
import { step } from "../../proxy-image/src/core/step.ts";
import type {
  CallFailureKind,
  ConnectionStage,
  DeploymentSnapshot,
  Effect,
  Event,
  Note,
  ProbeOutcome,
  TargetConfig,
  TargetState,
  WorkloadSnapshot,
} from "../../proxy-image/src/core/types.ts";

export const minutes = (count: number) => count * 60_000;
export const seconds = (count: number) => count * 1_000;

/** The settings of the scenarios, near the defaults. */
export const config: TargetConfig = {
  ports: [22],
  idleHoldMs: minutes(5),
  wakeTimeoutMs: seconds(120),
  wakePollIntervalMs: 500,
  probeWindowMs: seconds(2),
  watchIntervalMs: seconds(15),
  ownGraceMs: undefined,
  targets: 1,
};

/** An effect other than a note, in short: `write suspend 7`, `write un-suspend`, `open 22`, `read`. */
export type Deed = string;

type Look = (port: number) => ProbeOutcome;

/**
 * The core on a bench: a test says what happens and sees what follows. Calls and probes stay open until the test
 * answers them, or `attend` has it done as time passes.
 */
export class Bench {
  now = 0;
  state: TargetState;
  /** Ports whose lanes may be open. */
  lanes: readonly number[] = [];
  readonly config: TargetConfig;
  workload: WorkloadSnapshot;
  /** Everything since the last `take`, in order. */
  private deeds: Deed[] = [];
  private noted: Note[] = [];
  private alarmAt: number | undefined;
  private wanted: boolean | undefined;
  private readonly probes: { port: number; startedAt: number }[] = [];
  private readonly due: { at: number; event: Event }[] = [];
  private attending: { look: Look; status: (() => DeploymentSnapshot | undefined) | undefined } | undefined;

  constructor(changes: Partial<TargetConfig> = {}) {
    this.config = { ...config, ...changes };
    this.state = initialState(this.config, 0);
    this.workload = {
      id: "one",
      version: 1,
      suspended: true,
      graceMs: seconds(90),
      mode: "normal",
      otherScaler: undefined,
    };
  }

  /** A bench on which the first read has been answered. */
  static with(changes: Partial<TargetConfig>, workload: Partial<WorkloadSnapshot>): Bench {
    const bench = new Bench(changes);
    bench.workload = { ...bench.workload, ...workload };
    bench.send({ type: "tick" }).read();
    bench.take();
    return bench;
  }

  static suspended(changes: Partial<TargetConfig> = {}): Bench {
    return Bench.with(changes, { suspended: true });
  }

  /** Awake with nobody there, its old age long past, idle from now on. */
  static awake(changes: Partial<TargetConfig> = {}): Bench {
    const bench = Bench.with(changes, { suspended: false });
    bench.probed("answered");
    bench.take();
    return bench;
  }

  /** Awake, idle, and the suspend just sent: its outcome is not known yet. */
  static suspending(changes: Partial<TargetConfig> = {}): Bench {
    const bench = Bench.awake(changes).idle(0);
    const deeds = bench.take();
    if (deeds.join() !== "write suspend 1") throw new Error(`expected a suspend, got ${deeds}`);
    return bench;
  }

  // What happens.

  send(event: Event): this {
    const moment = { now: this.now, random: 0.5 };
    const { state, effects, lanes, alarmAt } = step(this.config, this.state, event, moment);
    this.state = state;
    this.lanes = lanes;
    this.alarmAt = alarmAt;
    for (const effect of effects) this.note(effect);
    return this;
  }

  arrive(port = 22): this {
    return this.send({ type: "arrived", port });
  }

  leave(from: ConnectionStage, port = 22): this {
    return this.send({ type: "left", port, from });
  }

  /** So many clients are in the lane now. */
  lane(clients: number, what: { answered?: boolean; left?: boolean } = {}, port = 22): this {
    return this.send({ type: "lane", port, clients, answered: false, left: false, ...what });
  }

  splice(port = 22): this {
    return this.send({ type: "spliced", port });
  }

  /** Answers the read under way with the workload as it is, after a change by somebody. */
  read(change: Partial<WorkloadSnapshot> = {}): this {
    this.change(change);
    return this.send({ type: "read", snapshot: this.workload });
  }

  /** Somebody else writes. */
  change(change: Partial<WorkloadSnapshot>): this {
    const changed = Object.keys(change).length > 0;
    this.workload = { ...this.workload, version: this.workload.version + (changed ? 1 : 0), ...change };
    return this;
  }

  readFails(kind: CallFailureKind, retryAfterMs?: number): this {
    return this.send({ type: "read-failed", failure: { kind, message: kind, retryAfterMs } });
  }

  /** The write under way is carried out and answered. */
  written(): this {
    this.land();
    return this.send({ type: "written", version: this.workload.version });
  }

  /** The write that was last sent is carried out, whatever its caller is told. */
  land(): this {
    if (this.wanted === undefined) throw new Error("nothing was written");
    return this.change({ suspended: this.wanted });
  }

  writeFails(kind: CallFailureKind, retryAfterMs?: number): this {
    return this.send({ type: "write-failed", failure: { kind, message: kind, retryAfterMs } });
  }

  /** Answers the oldest probe of the port. */
  probed(outcome: ProbeOutcome, port = 22): this {
    const index = this.probes.findIndex((probe) => probe.port === port);
    const [probe] = index < 0 ? [] : this.probes.splice(index, 1);
    if (!probe) throw new Error(`no probe of ${port} is under way`);
    return this.send({ type: "probed", port, startedAt: probe.startedAt, outcome });
  }

  status(snapshot: Partial<DeploymentSnapshot>): this {
    return this.send({
      type: "status",
      snapshot: {
        lastProcessedVersion: this.workload.version,
        ready: false,
        failure: undefined,
        ...snapshot,
      },
    });
  }

  // Time.

  /** From now on reads are answered at once, and probes by `look`: silence after the window, the rest at once. */
  attend(look: Look, status?: () => DeploymentSnapshot | undefined): this {
    this.attending = { look, status };
    for (const probe of this.probes.splice(0)) this.answer(probe);
    if (this.state.read) this.due.push({ at: this.now, event: { type: "read", snapshot: this.workload } });
    return this;
  }

  /** From now on the test answers again. */
  alone(): this {
    this.attending = undefined;
    return this;
  }

  /** Lets an idle-hold pass but for `lessMs`, with the target answering all the while. */
  idle(lessMs: number): this {
    return this.attend(() => "answered")
      .pass(this.config.idleHoldMs - lessMs)
      .alone();
  }

  /** Lets time pass, by the alarms that the core sets and nothing else. */
  pass(ms: number): this {
    const until = this.now + ms;
    for (;;) {
      this.due.sort((a, b) => a.at - b.at);
      const next = Math.min(
        this.due[0]?.at ?? Number.POSITIVE_INFINITY,
        this.alarmAt ?? Number.POSITIVE_INFINITY,
      );
      if (next > until) break;
      this.now = Math.max(this.now, next);
      const event =
        (this.due[0]?.at ?? Number.POSITIVE_INFINITY) <= next ? this.due.shift()?.event : undefined;
      // An answer to a read tells how things are then.
      if (event?.type === "read") this.read();
      else this.send(event ?? { type: "tick" });
    }
    this.now = until;
    return this;
  }

  // What follows.

  /** What was asked for since the last time, but for reads and probes unless they are asked for. */
  take(...kinds: string[]): Deed[] {
    const deeds = this.deeds.filter((deed) => {
      const [kind = ""] = deed.split(" ");
      return kinds.length > 0 ? kinds.includes(kind) : !["read", "read-status", "probe"].includes(kind);
    });
    this.deeds = [];
    return deeds;
  }

  notes(): Note["event"][] {
    return this.noted.splice(0).map(({ event }) => event);
  }

  get phase(): TargetState["phase"] {
    return this.state.phase;
  }

  get report(): TargetReport {
    return describe(this.state, this.now);
  }

  conditions(): string[] {
    return this.report.conditions.map(({ type }) => type);
  }

  private note(effect: Effect): void {
    switch (effect.type) {
      case "note":
        this.noted.push(effect.note);
        return;
      case "write":
        this.wanted = effect.suspend;
        this.deeds.push(
          effect.suspend ? `write suspend ${effect.version ?? "unversioned"}` : "write un-suspend",
        );
        return;
      case "probe": {
        const probe = { port: effect.port, startedAt: this.now };
        if (this.attending) this.answer(probe);
        else this.probes.push(probe);
        this.deeds.push(`probe ${effect.port}`);
        return;
      }
      case "read":
        if (this.attending) this.due.push({ at: this.now, event: { type: "read", snapshot: this.workload } });
        this.deeds.push("read");
        return;
      case "read-status": {
        this.deeds.push("read-status");
        if (!this.attending) return;
        const snapshot = this.attending.status?.();
        const event: Event = snapshot
          ? { type: "status", snapshot }
          : { type: "status-failed", failure: { kind: "denied", message: "denied" } };
        this.due.push({ at: this.now, event });
        return;
      }
      case "connect-anyway":
        this.deeds.push(`connect-anyway ${effect.port} ${effect.id}`);
        return;
      case "drop":
        this.deeds.push(`drop ${effect.reason}`);
        return;
      case "recall":
        this.deeds.push(`recall ${effect.port} ${effect.begunBefore}`);
        return;
      default:
        this.deeds.push(`${effect.type} ${effect.port}`);
    }
  }

  private answer(probe: { port: number; startedAt: number }): void {
    const outcome = this.attending?.look(probe.port) ?? "silent";
    const at = outcome === "silent" ? probe.startedAt + this.config.probeWindowMs : this.now;
    this.due.push({ at: Math.max(at, this.now), event: { type: "probed", ...probe, outcome } });
  }
}
