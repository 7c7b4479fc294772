/**
 * The vocabulary of the core: what a target's controller tells it (events), what it remembers (state) and what it
 * asks for (effects). Everything is plain data; times are milliseconds of one clock that the caller supplies.
 */

/** The life of a target, as far as this proxy knows it. The transitions are in `phases.ts`. */
export type Phase =
  /** Until a first read has succeeded. */
  | "unknown"
  | "suspended"
  /** An un-suspend is wanted or in flight. */
  | "waking"
  /** Un-suspended, but nobody has proved it ready. */
  | "starting"
  /** At least one port of this generation has been proved. */
  | "awake"
  /** The gate is closed and a suspend is in flight, or its outcome is not yet known. */
  | "suspending";

/** Where a client's connection stands: waiting at the gate, being connected to the target, or spliced. */
export type ConnectionStage = "waiting" | "connecting" | "spliced";

/**
 * What one look at a port found. Only `answered` means that an application was there and serves; `unready` is one
 * that says that it does not serve yet, or no more.
 */
export type ProbeOutcome = "answered" | "unready" | "silent" | "refused" | "closed" | "reset" | "unreachable";

/** Why a client's own connection to the target ended before the target's first byte. */
export type ConnectFailure =
  | Exclude<ProbeOutcome, "answered" | "unready" | "silent">
  | "timeout"
  | "recalled";

/** How a call to the platform's API failed, sorted by what it means for the next step. */
export type CallFailureKind =
  /** 401 or 403, in either header form. */
  | "denied"
  /** 404: no such workload. */
  | "missing"
  /** 409: the version read is no longer the newest. */
  | "conflict"
  /** 429 that says to come back later. */
  | "throttled"
  /** 429 about a quota: asking again does not help. */
  | "quota"
  /** Any other 4xx, or an answer that can't be understood. */
  | "invalid"
  /** Never sent: name not found, connection refused. */
  | "unreachable"
  /** 5xx. Whether a write was applied is unknown. */
  | "server"
  /** No answer within the call limit. Whether a write was applied is unknown. */
  | "timeout"
  /** The connection broke under the call. Whether a write was applied is unknown. */
  | "broken";

export interface CallFailure {
  kind: CallFailureKind;
  /** The platform's own words, or the system's. */
  message: string;
  retryAfterMs?: number | undefined;
}

/** The tag `scale-to-zero/mode` on the target. */
export type Mode = "normal" | "paused" | "always-on";

/** What a read of the target's workload tells. */
export interface WorkloadSnapshot {
  /** Changes when the workload is deleted and created anew. */
  id: string;
  version: number;
  suspended: boolean;
  /** `rolloutOptions.terminationGracePeriodSeconds`, or the platform's default of 90 s. */
  graceMs: number;
  mode: Mode;
  /** Another owner of the workload's scale, such as `keda`: it is then left alone. */
  otherScaler: string | undefined;
}

/** What a read of the deployment of the proxy's own location tells. */
export interface DeploymentSnapshot {
  lastProcessedVersion: number;
  /** The version whose `workload` is the expected one has ready replicas. */
  ready: boolean;
  /** A failure that the platform reports in so many words: image pull, crash loop, quota, unschedulable. */
  failure: { reason: FailureReason; message: string } | undefined;
}

export type FailureReason = "image_pull" | "crash_loop" | "quota" | "unschedulable";

export type Event =
  /** A client was admitted and waits at the gate. */
  | { type: "arrived"; port: number }
  /** The target's first byte came on the client's own connection. */
  | { type: "spliced"; port: number }
  /** The client's own connection to the target ended before a first byte; the client waits again. */
  | { type: "returned"; port: number; failure: ConnectFailure }
  /** The client's own connection has been open for the probe window without a byte. It stays open. */
  | { type: "mute"; port: number }
  /** The client's hold is about to end while it waits. */
  | { type: "hold-ending"; port: number; id: number }
  /**
   * The client is gone, for whatever reason. `unanswered`: the target ended it without having said a byte.
   * `stranger`: it was let through to a target that was awake anyway, and would not have woken it.
   */
  | { type: "left"; port: number; from: ConnectionStage; unanswered?: boolean; stranger?: boolean }
  /**
   * What has happened in the port's lane, which was shut in the same moment: how many clients are in it now, and
   * whether the target has spoken to one or one has left since this was last told.
   */
  | { type: "lane"; port: number; clients: number; answered: boolean; left: boolean }
  | { type: "probed"; port: number; startedAt: number; outcome: ProbeOutcome }
  | { type: "read"; snapshot: WorkloadSnapshot }
  | { type: "read-failed"; failure: CallFailure }
  | { type: "status"; snapshot: DeploymentSnapshot }
  | { type: "status-failed"; failure: CallFailure }
  /** A write was accepted; `version` is the workload's version in the answer, if it held one. */
  | { type: "written"; version: number | undefined }
  | { type: "write-failed"; failure: CallFailure }
  /** The proxy is being shut down: sessions go on, but nothing is suspended any more. */
  | { type: "drain" }
  /** The alarm that the last step asked for. */
  | { type: "tick" };

export type Effect =
  /** Read the workload; answered by `read` or `read-failed`. At most one is outstanding. */
  | { type: "read" }
  /** Read the deployment; answered by `status` or `status-failed`. At most one is outstanding. */
  | { type: "read-status" }
  /** Write `suspend`; answered by `written` or `write-failed`. At most one is outstanding. */
  | { type: "write"; suspend: boolean; version: number | undefined }
  /** Look once whether the port answers; answered by `probed`. */
  | { type: "probe"; port: number }
  /** Connect every client that waits on the port, first come first served. */
  | { type: "open"; port: number }
  /** Connect this one waiting client although the generation is not proved: its hold is ending. */
  | { type: "connect-anyway"; port: number; id: number }
  /**
   * Take back clients of the port that are connecting, whose target connection was begun before `begunBefore` and
   * is still mute; each is answered by `returned` with `recalled`.
   */
  | { type: "recall"; port: number; begunBefore: number }
  /** End every client that waits or connects: the platform says that the target can't come. Answered by `left`. */
  | { type: "drop"; reason: FailureReason; message: string }
  | { type: "note"; note: Note };

/** Things worth a log line. Field names are those of the log. */
export type Note =
  | { event: "wake"; generation: number }
  | { event: "ready"; generation: number; port: number; tookMs: number; evidence: Evidence }
  | { event: "wake_timeout"; attempt: number; afterMs: number }
  | { event: "connected_unproved"; port: number }
  | { event: "suspend"; idleMs: number }
  | { event: "suspended"; tookMs: number }
  | { event: "suspend_cancelled" }
  | { event: "write_failed"; suspend: boolean; kind: CallFailureKind; message: string; retryInMs: number }
  | { event: "read_failed"; kind: CallFailureKind; message: string; retryInMs: number }
  | { event: "api_recovered"; afterMs: number }
  | { event: "outcome_unknown"; suspend: boolean; kind: CallFailureKind }
  | { event: "foreign_suspend_undone" }
  | { event: "foreign_suspend_obeyed"; untilMs: number }
  | { event: "late_suspend_undone" }
  | { event: "foreign_wake" }
  | { event: "mode_changed"; mode: Mode }
  | { event: "other_scaler"; scaler: string }
  | { event: "target_recreated" }
  | { event: "target_missing" }
  | { event: "target_failed"; reason: FailureReason; message: string; failedGenerations: number }
  | { event: "never_ready"; afterMs: number }
  | { event: "version_not_accepted" };

/** Which of the three proofs showed that an answer came from the current generation. */
export type Evidence = "no_recent_suspend" | "nobody_then_answer" | "deployment_ready";

/** A run of failed calls of one sort (reads, or writes). */
export interface Trouble {
  since: number;
  failures: number;
  failure: CallFailure;
  /** The latest failure. */
  at: number;
  /** The delay that the run has grown to; capped further while somebody is held. */
  delayMs: number;
  /** The platform asked not to be called before this. */
  notBefore: number;
}

/** The workload as it was last read, with what this proxy has written since. */
export interface KnownWorkload extends WorkloadSnapshot {
  /** When the read was sent. */
  readAt: number;
  /** The answer to a write held no version; this one is what it must have been raised to at least. */
  versionGuessed: boolean;
}

/** The outcome of a write is unknown: it may have been applied, or be applied yet. */
export interface Doubt {
  /** The value wanted now. */
  suspend: boolean;
  /** Since when reads agree with it. */
  seenSince: number | undefined;
  /**
   * Whether a suspend is among the writes in doubt. An open one may land under whoever is let through; it is
   * overruled once a later write was accepted, since that raised the version which the suspend carries.
   */
  lostSuspend: "none" | "open" | "overruled";
}

/** The time from an un-suspend to a port's first answer, and how far off it may be. */
export interface Boot {
  ms: number;
  blurMs: number;
}

export interface PortState {
  /** The listen port: the mapping's name throughout the proxy. */
  readonly port: number;
  waiting: number;
  connecting: number;
  spliced: number;
  /** Clients who passed by the lane while it was open: on their way to the target, or spliced. */
  lane: number;
  /** An answer on this port has been shown to come from the current generation. */
  proved: boolean;
  /** Start of the latest probe since the last suspend that found nobody there. */
  nobodyAt: number | undefined;
  /** When this port last answered anything, proved or not. */
  answeredAt: number | undefined;
  /** When the probes under way were begun. */
  looks: readonly number[];
  probedAt: number | undefined;
  /** Since when every look has been refused, closed or reset, for as long as they have been. */
  turnedDownSince: number | undefined;
  /** Extra looks around its expected boot that this generation has had. */
  extraLooks: number;
  /** How it booted the last times, and the generation of the latest of them. */
  boots: readonly Boot[];
  bootOf: number | undefined;
  /** A client's own connection stays mute: look beside it. */
  mute: boolean;
  /** When one was last found mute. */
  mutedAt: number | undefined;
}

export interface TargetState {
  phase: Phase;
  /** When this proxy began to look after the target. */
  readonly startedAt: number;
  lifecycle: "serving" | "draining";
  ports: PortState[];
  generation: {
    number: number;
    /** The un-suspend that began it, or when it was first seen. */
    since: number;
    /** This proxy's own un-suspend began it, so `since` is when it began. */
    woken: boolean;
    readyAt: number | undefined;
    /** The workload's version with this generation in it: the un-suspend's answer, else the first read after it. */
    version: number | undefined;
    /** The deployment shows this generation's replicas ready. */
    deploymentReady: boolean;
    /** Since when it is not expected to become ready any more: a reported failure, or 30 minutes of starting. */
    gaveUpAt: number | undefined;
  };
  /** Generations in a row that failed or never became ready. */
  failedGenerations: number;
  /** What the platform last said went wrong; outlives the generation, until one succeeds or the platform takes it back. */
  failure: { reason: FailureReason; message: string; at: number } | undefined;
  /** The latest suspend, own or seen, landed or possibly so. */
  suspendedAt: number | undefined;
  /**
   * When the replicas that it ends are gone for sure. The longest grace seen counts: a later edit does not reach
   * replicas that are ending already.
   */
  drainedAt: number | undefined;
  /** When a client last left, other than one turned away or a stranger. */
  lastLeftAt: number | undefined;
  workload: KnownWorkload | undefined;
  /** One that was said to be missing, as it was last known: if it is there after all, its older copies are still older. */
  missed: KnownWorkload | undefined;
  write: { suspend: boolean; versioned: boolean; sentAt: number; phaseBefore: Phase } | undefined;
  read: { sentAt: number; stale: boolean } | undefined;
  status: { sentAt: number } | undefined;
  statusReadAt: number | undefined;
  /** The latest read of the status failed. */
  statusFailed: boolean;
  /** When a write was last accepted. */
  writtenAt: number | undefined;
  /** When the workload was last asked for, answered or not. */
  readAt: number | undefined;
  /** Something happened that only a read explains. */
  readWanted: boolean;
  doubt: Doubt | undefined;
  readTrouble: Trouble | undefined;
  writeTrouble: (Trouble & { suspend: boolean }) | undefined;
  /** Tries left while calls fail, refilled with time. */
  tokens: { left: number; at: number };
  /** The wake attempt that runs, or the last one of this generation, which ended without a proof. */
  attempt: { number: number; startedAt: number; nextAt: number | undefined } | undefined;
  foreign: { undoneAt: number | undefined; obeyUntil: number | undefined };
  /** The platform takes the version in a suspend's body. */
  versioned: boolean;
}

/** What the core needs to know of a target's settings. */
export interface TargetConfig {
  /** Listen ports in the order of the settings. */
  ports: readonly number[];
  idleHoldMs: number;
  wakeTimeoutMs: number;
  wakePollIntervalMs: number;
  probeWindowMs: number;
  watchIntervalMs: number;
  /** The proxy workload's own termination grace, where it was rendered. */
  ownGraceMs: number | undefined;
  /** How many targets the proxy looks after: they share its processor. */
  targets: number;
}

/** The moment of a step. `random` is in [0, 1) and spreads retries. */
export interface Moment {
  now: number;
  random: number;
}

export interface Step {
  state: TargetState;
  effects: Effect[];
  /** Ports whose lanes may be open until the next step: who comes there is let through without asking. */
  lanes: number[];
  /** When to send `tick`, if nothing happens before. */
  alarmAt: number | undefined;
}
