import type { Socket } from "node:net";
import type { ConnectFailure } from "../core/types";
import { Approach, type ApproachFailure } from "../net/approach";
import type { DialQueue, Ticket } from "../net/dial-queue";
import type { EarlyBudget } from "../net/early-budget";
import { HeldSocket } from "../net/held";
import type { Plane, Splice, SpliceEnd, SpliceEndReason } from "../net/plane";
import { abort, closeInOrder } from "../net/sockets";
import type { Clock } from "./clock";

export type Stage = "waiting" | "connecting" | "spliced" | "finished";

export type EndReason =
  | SpliceEndReason
  /** The client ended in order before it had sent a byte or seen one. */
  | "client_left"
  /** `MAX_HOLD` was over. */
  | "hold_expired"
  /** The platform reported that the target can't start. */
  | "target_failed";

/** The one account of a connection, given when it is over. */
export interface Finish {
  reason: EndReason;
  detail: string | undefined;
  /** Where it stood. */
  stage: Exclude<Stage, "finished">;
  heldMs: number;
  splicedMs: number;
  dials: number;
  bytesUp: number;
  bytesDown: number;
}

/** What a connection tells its controller. `finished` comes exactly once and last. */
export type Report =
  | { type: "spliced" }
  | { type: "returned"; failure: ConnectFailure }
  | { type: "mute" }
  | { type: "hold-ending" }
  | { type: "finished"; finish: Finish };

export interface ConnectionOptions {
  id: number;
  socket: Socket;
  /** Where the target answers. */
  address: { host: string; port: number };
  settings: { maxHoldMs: number; probeWindowMs: number; holdEnd: "close" | "reset"; earlyBytes: number };
  clock: Clock;
  plane: Plane;
  dials: DialQueue;
  budget: EarlyBudget;
  report: (report: Report) => void;
}

/** How long before its end a hold is announced: time enough to connect to a target that answers. */
export const holdWarningMs = (maxHoldMs: number): number => Math.min(2_000, maxHoldMs / 10);

/** A connection being made to the target for this client. */
interface Attempt {
  ticket: Ticket;
  /** Absent while it waits for its turn. */
  approach?: Approach;
  begunAt?: number;
  cancelMute?: () => void;
}

/** One client from the moment it is admitted. Owns the client's socket, and ends once for one reason. */
export class Connection {
  readonly id: number;
  stage: Stage = "waiting";
  private readonly acceptedAt: number;
  private readonly held: HeldSocket;
  private attempt: Attempt | undefined;
  private splice: Splice | undefined;
  private splicedAt: number | undefined;
  private cancelHold: () => void;
  private warning: "ahead" | "due" | "given" = "ahead";
  private dialCount = 0;
  private readonly options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    this.options = options;
    const { clock, settings } = options;
    this.id = options.id;
    this.acceptedAt = clock.now();
    this.held = new HeldSocket(options.socket, {
      earlyBytes: settings.earlyBytes,
      budget: options.budget,
      onEnd: (end) => {
        // An orderly end is answered in order; after a reset there is nobody to answer.
        if (end === "client_left") this.endHold(end, "close");
        else this.endHold(end, "reset");
      },
    });
    const warningMs = holdWarningMs(settings.maxHoldMs);
    this.cancelHold = clock.timer(settings.maxHoldMs - warningMs, () => {
      this.cancelHold = clock.timer(warningMs, () => this.endHold("hold_expired", settings.holdEnd));
      this.warning = "due";
      this.warn();
    });
  }

  /** Waiting → connecting, as soon as there is a free dial. */
  connect(): void {
    if (this.stage !== "waiting") return;
    this.stage = "connecting";
    const attempt: Attempt = { ticket: { leave: () => {} } };
    this.attempt = attempt;
    attempt.ticket = this.options.dials.enter(() => this.dial(attempt));
  }

  /** Gives up a target connection that was begun before `begunBefore` and is still mute. */
  recall(begunBefore: number): void {
    const begunAt = this.attempt?.begunAt;
    if (this.stage === "connecting" && begunAt !== undefined && begunAt < begunBefore)
      this.giveBack("recalled");
  }

  /** Ends a hold because the target can't come. */
  drop(detail: string): void {
    this.endHold("target_failed", this.options.settings.holdEnd, detail);
  }

  /** Ends whatever there is: the process is about to end. */
  cut(): void {
    if (this.stage === "spliced") this.splice?.cut();
    else this.endHold("cut", this.options.settings.holdEnd);
  }

  private warn(): void {
    if (this.warning !== "due" || this.stage !== "waiting") return;
    this.warning = "given";
    this.options.report({ type: "hold-ending" });
  }

  private dial(attempt: Attempt): void {
    const { clock, address, settings, report } = this.options;
    attempt.begunAt = clock.now();
    this.dialCount += 1;
    attempt.approach = new Approach(
      { ...address, clock },
      {
        connected: () => {
          attempt.cancelMute = clock.timer(settings.probeWindowMs, () => {
            // It stays open and may still win, but others may try beside it.
            attempt.ticket.leave();
            report({ type: "mute" });
          });
        },
        spoke: () => this.begin(attempt),
        failed: (failure: ApproachFailure) => this.giveBack(failure),
      },
    );
  }

  private begin(attempt: Attempt): void {
    const { approach } = attempt;
    if (!approach) return;
    this.leaveAttempt();
    this.cancelHold();
    this.stage = "spliced";
    this.splicedAt = this.options.clock.now();
    const { socket, first } = approach.take();
    const early = this.held.release();
    this.splice = this.options.plane.splice(
      { socket: this.options.socket, pending: early },
      { socket, pending: first },
      (end) => this.finish("spliced", end.reason, end),
    );
    this.options.report({ type: "spliced" });
  }

  /** Connecting → waiting. No byte of the client has been passed on, so nothing is lost. */
  private giveBack(failure: ConnectFailure): void {
    this.leaveAttempt();
    this.stage = "waiting";
    this.options.report({ type: "returned", failure });
    this.warn();
  }

  private leaveAttempt(): void {
    const { attempt } = this;
    this.attempt = undefined;
    attempt?.cancelMute?.();
    attempt?.approach?.abandon();
    attempt?.ticket.leave();
  }

  private endHold(reason: EndReason, how: "close" | "reset", detail?: string): void {
    const { stage } = this;
    if (stage !== "waiting" && stage !== "connecting") return;
    this.leaveAttempt();
    this.held.stop();
    this.cancelHold();
    const { socket, clock } = this.options;
    if (how === "reset") abort(socket);
    else closeInOrder(socket, clock);
    this.finish(stage, reason, undefined, detail);
  }

  private finish(
    stage: Exclude<Stage, "finished">,
    reason: EndReason,
    end: SpliceEnd | undefined,
    detail?: string,
  ): void {
    this.stage = "finished";
    const now = this.options.clock.now();
    const splicedAt = this.splicedAt ?? now;
    const finish: Finish = {
      reason,
      detail,
      stage,
      heldMs: splicedAt - this.acceptedAt,
      splicedMs: now - splicedAt,
      dials: this.dialCount,
      bytesUp: end?.bytesUp ?? 0,
      bytesDown: end?.bytesDown ?? 0,
    };
    this.options.report({ type: "finished", finish });
  }
}
