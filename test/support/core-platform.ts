import type {
  CallFailure,
  CallFailureKind,
  DeploymentSnapshot,
  Event,
  WorkloadSnapshot,
} from "../../proxy-image/src/core/types.ts";
import type { Target } from "./core-target.ts";
import type { Luck, Timeline } from "./core-time.ts";

/** When a write whose caller was not told of its outcome is carried out. */
export type Landing = "never" | "unseen" | "late";

export interface Fault {
  kind: CallFailureKind;
  retryAfterMs: number | undefined;
  landing: Landing;
  /** How long after the caller gave up a late write lands. */
  lateMs: number;
}

export interface PlatformSettings {
  latencyMs: number;
  /** A suspend that carries a version is refused as malformed. */
  refusesVersion: boolean;
  /** Answers to writes hold no version. */
  mutesVersion: boolean;
  /** Chance that a read answers from an older copy. */
  staleReads: number;
}

/** A write in its caller's hands; the laws of the world look at what became of it. */
export interface WriteCall {
  /** The proxy that made it. */
  readonly by: object;
  readonly suspend: boolean;
  readonly version: number | undefined;
  readonly sentAt: number;
  /** When the caller was told that the outcome is unknown. */
  givenUpAt: number | undefined;
  appliedAt: number | undefined;
  /** Which workload it was sent for, and whether it met another one of that name. */
  workload: string | undefined;
  strayed: boolean;
  /** The termination grace that its sender knew of, and the one that it met. */
  knownGraceMs: number | undefined;
  graceMs: number | undefined;
}

const UNKNOWN: ReadonlySet<CallFailureKind> = new Set(["server", "timeout", "broken"]);
const CALL_LIMIT_MS = 15_000;
const KEPT_MS = 60_000;

/** Moments of a call at which something else may come in between. */
export type CallPoint =
  | `${"suspend" | "un-suspend"} ${"sent" | "applied" | "told"}`
  | "read sent"
  | "read told";

/** The API of Control Plane as far as one workload goes: versions, an optimistic lock, and every way to fail. */
export class Platform {
  exists = true;
  faults: { reads: Fault | undefined; writes: Fault | undefined; statuses: Fault | undefined } = {
    reads: undefined,
    writes: undefined,
    statuses: undefined,
  };
  statusLagMs = 0;
  statusReadable = true;
  /** Told of every write that is carried out, at that moment. */
  onApplied: (call: WriteCall) => void = () => {};
  /** How often each point of a call has been passed. */
  readonly passed = new Map<CallPoint, number>();

  private serial = 1;
  private document: WorkloadSnapshot;
  private readonly copies: { at: number; snapshot: WorkloadSnapshot }[] = [];
  private readonly statuses: { at: number; snapshot: DeploymentSnapshot }[] = [];

  private readonly time: Timeline;
  private readonly luck: Luck;
  private readonly target: Target;
  readonly settings: PlatformSettings;

  constructor(
    time: Timeline,
    luck: Luck,
    target: Target,
    settings: PlatformSettings,
    first: { suspended: boolean; graceMs: number },
  ) {
    this.time = time;
    this.luck = luck;
    this.target = target;
    this.settings = settings;
    this.document = {
      id: "workload-1",
      version: 1,
      suspended: first.suspended,
      graceMs: first.graceMs,
      mode: "normal",
      otherScaler: undefined,
    };
    this.copies.push({ at: 0, snapshot: this.document });
    if (!first.suspended) this.target.start();
    this.noteStatus();
  }

  get now(): WorkloadSnapshot {
    return this.document;
  }

  /** The deployment as it is now becomes what a lagging status will say. */
  noteStatus(): void {
    this.statuses.push({ at: this.time.now, snapshot: this.target.deployment(this.document.version) });
    forgetOld(this.statuses, this.time.now - KEPT_MS);
  }

  // What other people do, at once and without a call.

  edit(change: Partial<Pick<WorkloadSnapshot, "suspended" | "mode" | "otherScaler" | "graceMs">>): void {
    if (this.exists) this.put({ ...this.document, ...change }, undefined);
  }

  remove(): void {
    if (!this.exists) return;
    this.exists = false;
    this.target.end(this.document.graceMs, undefined);
    this.noteStatus();
  }

  create(suspended: boolean): void {
    if (this.exists) this.remove();
    this.exists = true;
    this.serial += 1;
    // A new workload has a deployment of its own.
    this.statuses.length = 0;
    const { graceMs } = this.document;
    this.document = {
      id: `workload-${this.serial}`,
      version: 0,
      suspended: true,
      graceMs,
      mode: "normal",
      otherScaler: undefined,
    };
    this.put({ ...this.document, suspended }, undefined);
  }

  // Calls.

  read(tell: (event: Event) => void): void {
    this.pass("read sent");
    const answer = (event: Event) => {
      tell(event);
      this.pass("read told");
    };
    const fault = this.faults.reads;
    if (fault) {
      this.fail(fault, (failure) => answer({ type: "read-failed", failure }));
      return;
    }
    this.after(this.latency(), () => {
      const { exists } = this;
      const snapshot = this.luck.chance(this.settings.staleReads)
        ? this.copyOf(this.luck.between(0, 4_000))
        : this.document;
      this.after(this.latency(), () => {
        if (exists) answer({ type: "read", snapshot });
        else answer({ type: "read-failed", failure: failureOf("missing") });
      });
    });
  }

  readStatus(answer: (event: Event) => void): void {
    const fault = this.faults.statuses ?? (this.statusReadable ? undefined : NO_RIGHT);
    if (fault) {
      this.fail(fault, (failure) => answer({ type: "status-failed", failure }));
      return;
    }
    this.after(this.latency(), () => {
      const snapshot = this.exists && latestBefore(this.statuses, this.time.now - this.statusLagMs);
      this.after(this.latency(), () => {
        if (snapshot) answer({ type: "status", snapshot });
        else answer({ type: "status-failed", failure: failureOf("missing") });
      });
    });
  }

  write(call: WriteCall, tell: (event: Event) => void): void {
    const name = call.suspend ? "suspend" : "un-suspend";
    this.pass(`${name} sent`);
    const answer = (event: Event) => {
      tell(event);
      this.pass(`${name} told`);
    };
    const fault = this.faults.writes;
    if (fault) {
      if (UNKNOWN.has(fault.kind) && fault.landing === "unseen")
        this.after(this.latency(), () => this.apply(call));
      this.fail(fault, (failure) => {
        if (UNKNOWN.has(fault.kind)) call.givenUpAt = this.time.now;
        answer({ type: "write-failed", failure });
        if (UNKNOWN.has(fault.kind) && fault.landing === "late")
          this.after(fault.lateMs, () => this.apply(call));
      });
      return;
    }
    this.after(this.latency(), () => {
      const refused = this.apply(call);
      const { version } = this.document;
      this.after(this.latency(), () => {
        if (refused) answer({ type: "write-failed", failure: failureOf(refused) });
        else answer({ type: "written", version: this.settings.mutesVersion ? undefined : version });
      });
    });
  }

  private apply(call: WriteCall): CallFailureKind | undefined {
    if (!this.exists) return "missing";
    if (call.version !== undefined && this.settings.refusesVersion) return "invalid";
    if (call.version !== undefined && call.version !== this.document.version) return "conflict";
    call.appliedAt = this.time.now;
    call.graceMs = this.document.graceMs;
    call.strayed = call.workload !== undefined && call.workload !== this.document.id;
    this.onApplied(call);
    this.put({ ...this.document, suspended: call.suspend }, call);
    this.pass(`${call.suspend ? "suspend" : "un-suspend"} applied`);
    return undefined;
  }

  private pass(point: CallPoint): void {
    this.passed.set(point, (this.passed.get(point) ?? 0) + 1);
  }

  private put(next: WorkloadSnapshot, by: WriteCall | undefined): void {
    const before = this.document;
    this.document = { ...next, version: before.version + 1 };
    this.copies.push({ at: this.time.now, snapshot: this.document });
    forgetOld(this.copies, this.time.now - KEPT_MS);
    if (next.suspended && !before.suspended) this.target.end(next.graceMs, by);
    if (!next.suspended && before.suspended) this.target.start();
    this.noteStatus();
  }

  private fail(fault: Fault, answer: (failure: CallFailure) => void): void {
    const delay = fault.kind === "timeout" ? CALL_LIMIT_MS : this.latency() + this.latency();
    this.after(delay, () => answer({ ...failureOf(fault.kind), retryAfterMs: fault.retryAfterMs }));
  }

  private copyOf(ageMs: number): WorkloadSnapshot {
    return latestBefore(this.copies, this.time.now - ageMs) ?? this.document;
  }

  private latency(): number {
    return this.luck.between(1, this.settings.latencyMs);
  }

  private after(delayMs: number, run: () => void): void {
    this.time.at(this.time.now + delayMs, run);
  }
}

const NO_RIGHT: Fault = { kind: "denied", retryAfterMs: undefined, landing: "never", lateMs: 0 };

export function failureOf(kind: CallFailureKind): CallFailure {
  return { kind, message: `simulated ${kind}` };
}

function latestBefore<Kept>(log: readonly { at: number; snapshot: Kept }[], time: number): Kept | undefined {
  for (let index = log.length - 1; index >= 0; index -= 1) {
    const entry = log[index];
    if (entry && entry.at <= time) return entry.snapshot;
  }
  return undefined;
}

/** Keeps what was true at `time` and since. */
function forgetOld(log: { at: number }[], time: number): void {
  let gone = 0;
  while (gone + 1 < log.length && (log[gone + 1]?.at ?? time) <= time) gone += 1;
  if (gone > 0) log.splice(0, gone);
}
