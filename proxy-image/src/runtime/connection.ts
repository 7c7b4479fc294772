import type { Socket } from "node:net";
import type { TargetSettings, WakeOn } from "../../../src/contract/settings";
import type { ConnectFailure, ProbeOutcome } from "../core/types";
import { Approach, type ApproachFailure } from "../net/approach";
import type { DialQueue, Ticket } from "../net/dial-queue";
import type { EarlyBudget } from "../net/early-budget";
import { HeldSocket } from "../net/held";
import type { Plane, Splice, SpliceEnd } from "../net/plane";
import { abort, after, closeInOrder } from "../net/sockets";
import { fitOf } from "../probes";
import type { Protocol } from "../probes/protocol";
import type { Attempt } from "./attempt";
import type { Clock } from "./clock";
import { type EndReason, type Finish, type Heard, isScan, isUnanswered, type Stage } from "./finish";
import { Forward } from "./forward";
import { Hold } from "./hold";
import { Offer } from "./offer";

export { holdWarningMs } from "./hold";
export type { EndReason, Finish, Stage };

/** What a connection tells its controller. `finished` comes exactly once and last. */
export type Report =
  /** What the client said is reason to wake the target. Comes first, and at once where the connection is enough. */
  | { type: "arrived" }
  /** What the client said is none. */
  | { type: "unfit" }
  /** The client has said nothing for a while, as one does who waits for the server to speak first. */
  | { type: "quiet" }
  /** The client's bytes pass to the target, which has not said anything yet. */
  | { type: "through" }
  /** `address` is the target's, where the session goes to. */
  | { type: "spliced"; address: string | undefined }
  | { type: "returned"; failure: ConnectFailure }
  | { type: "mute" }
  | { type: "hold-ending" }
  | { type: "finished"; finish: Finish };

/** How long a client has been held, and the connection to the target that was begun with that, which is mute so far. */
export interface Begun {
  heldMs: number;
  target: Socket | undefined;
}

/** Such a connection, which is one of those being made until it is given up. */
interface BegunTarget {
  socket: Socket;
  forMs: number;
  ticket: Ticket;
}

export interface ConnectionOptions {
  id: number;
  /** Where the target answers. */
  address: { host: string; port: number };
  settings: Pick<TargetSettings, "maxHoldMs" | "probeWindowMs" | "holdEnd" | "clientFin" | "earlyBytes">;
  protocol: Protocol;
  wakeOn: WakeOn;
  clock: Clock;
  plane: Plane;
  dials: DialQueue;
  budget: EarlyBudget;
  /** What a lane has begun for it. */
  begun?: Begun | undefined;
  report: (report: Report) => void;
}

/** Whose bytes are reason to wake the target speaks at once, or waits for the server. */
const QUIET_MS = 1_000;

/** One client from the moment it is admitted. Owns the client's socket, and ends once for one reason. */
export class Connection {
  readonly id: number;
  stage: Stage;
  private readonly acceptedAt: number;
  private readonly held: HeldSocket;
  private readonly hold: Hold;
  private attempt: Attempt | undefined;
  private offer: Offer | undefined;
  private splice: Splice | undefined;
  private splicedAt: number | undefined;
  private stranger = false;
  private dialCount = 0;
  /** Connections that ended under bytes of the client that they had been sent. */
  private replaced = 0;
  /** Bytes that were sent to the target before the session was the plane's. */
  private forwarded = 0;
  /** The client's, until the session is the plane's: then nothing of it is kept here. */
  private socket: Socket | undefined;
  private begun: BegunTarget | undefined;
  private cancelQuiet = () => {};
  private readonly options: ConnectionOptions;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket;
    this.options = options;
    const { clock, settings, wakeOn, begun } = options;
    this.id = options.id;
    if (begun?.target)
      this.begun = { socket: begun.target, forMs: begun.heldMs, ticket: options.dials.occupy() };
    this.acceptedAt = clock.now() - (begun?.heldMs ?? 0);
    this.stage = wakeOn === "connect" ? "waiting" : "pending";
    this.held = new HeldSocket(socket, {
      earlyBytes: settings.earlyBytes,
      clientFin: settings.clientFin,
      budget: options.budget,
      plane: options.plane,
      onBytes: () => this.onBytes(),
      onEnd: (end) => {
        // An orderly end is answered in order; after a reset there is nobody to answer.
        if (end === "client_left") this.endHold(end, "close");
        else this.endHold(end, "reset");
      },
    });
    this.hold = new Hold(clock, settings.maxHoldMs, {
      ending: () => {
        if (this.stage !== "waiting") return false;
        options.report({ type: "hold-ending" });
        return true;
      },
      over: () => this.endHold("hold_expired", settings.holdEnd),
    });
    this.hold.start(begun?.heldMs);
    // Where the client speaks first, one that is silent has nothing to hear.
    if (this.stage === "pending" && !options.protocol.clientFirst)
      this.cancelQuiet = clock.timer(QUIET_MS, () => options.report({ type: "quiet" }));
  }

  /** Pending → waiting. The hold begins anew: what came before it was no wait for the target. */
  arrive({ stranger = false } = {}): void {
    if (this.stage !== "pending") return;
    this.cancelQuiet();
    this.stage = "waiting";
    this.stranger = stranger;
    this.hold.start();
    this.options.report({ type: "arrived" });
  }

  /** Ends a client that said what its target does not understand. */
  refuse(): void {
    if (this.stage === "pending") this.endHold("unfit", this.options.settings.holdEnd);
  }

  /** Waiting → connecting, as soon as there is a free dial. */
  connect(): void {
    if (this.stage !== "waiting") return;
    this.stage = "connecting";
    const attempt: Attempt = { ticket: { leave: () => {} } };
    this.attempt = attempt;
    const answered = this.offer?.take();
    this.offer = undefined;
    if (answered) {
      this.dialCount += 1;
      this.begin({ ...attempt, ...answered });
      return;
    }
    const { begun } = this;
    this.begun = undefined;
    if (begun) this.goOn(attempt, begun);
    else attempt.ticket = this.options.dials.enter(() => this.dial(attempt));
  }

  get hasBegun(): boolean {
    return this.begun !== undefined;
  }

  /** What was begun before it was held is worth nothing once it has to wait: the target may be another by then. */
  dropBegun(): void {
    const { begun } = this;
    this.begun = undefined;
    begun?.socket.destroy();
    begun?.ticket.leave();
  }

  /**
   * Says the client's bytes to the target and waits for its first byte, without leaving the wait. An answer is kept
   * for `connect`; `settleOffer` gives it up. Undefined where there is nothing to say, or it is being said.
   */
  offerBytes(): Promise<ProbeOutcome> | undefined {
    const { address, clock, settings } = this.options;
    const forward = new Forward(this.held, this.options.protocol);
    if (this.stage !== "waiting" || this.offer || this.held.said.length === 0 || !forward.repeatable)
      return undefined;
    this.offer = new Offer({ ...address, clock }, settings.probeWindowMs, forward);
    return this.offer.outcome;
  }

  settleOffer(): void {
    this.offer?.abandon();
    this.offer = undefined;
  }

  /** Gives up a target connection that was begun before `begunBefore` and is still mute. */
  recall(begunBefore: number): void {
    if (this.stage !== "connecting") return;
    // One that still waits for its turn to dial would begin now.
    const begunAt = this.attempt?.begunAt ?? this.options.clock.now();
    if (begunAt < begunBefore) this.giveBack("recalled");
  }

  /** Ends a hold because the target can't come. */
  drop(detail: string): void {
    if (!this.attempt?.forward) this.endHold("target_failed", this.options.settings.holdEnd, detail);
  }

  /** Ends whatever there is: the process is about to end. */
  cut(): void {
    if (this.stage === "spliced") this.splice?.cut();
    else this.endHold("cut", this.options.settings.holdEnd);
  }

  private onBytes(): void {
    const { attempt } = this;
    if (this.stage === "pending") this.consider();
    else if (attempt?.forward && attempt.approach) this.passOn(attempt, attempt.forward, attempt.approach);
  }

  private consider(): void {
    const { protocol, wakeOn, report } = this.options;
    const fit = fitOf(protocol, wakeOn, this.held.said);
    if (fit === "fits") this.arrive();
    // Nothing more will come of it, and it still is nothing.
    else if (fit === "unfit" || this.held.ended || !this.held.complete) report({ type: "unfit" });
  }

  private dial(attempt: Attempt): void {
    this.approach(attempt, this.options.clock.now(), undefined);
  }

  private goOn(attempt: Attempt, { socket, forMs, ticket }: BegunTarget): void {
    attempt.ticket = ticket;
    const approach = this.approach(attempt, this.options.clock.now() - forMs, socket);
    this.onConnected(attempt, approach);
  }

  private approach(attempt: Attempt, begunAt: number, begun: Socket | undefined): Approach {
    const { clock, address } = this.options;
    attempt.begunAt = begunAt;
    this.dialCount += 1;
    const approach = new Approach(
      { ...address, clock, begun },
      {
        connected: () => this.onConnected(attempt, approach),
        spoke: () => this.begin(attempt),
        failed: (failure) => this.onFailed(attempt, failure),
      },
    );
    attempt.approach = approach;
    return approach;
  }

  private onConnected(attempt: Attempt, approach: Approach): void {
    const { clock, settings, protocol, report } = this.options;
    attempt.cancelMute = clock.timer(settings.probeWindowMs, () => {
      // It stays open and may still win, but others may try beside it.
      attempt.ticket.leave();
      // A target that nothing was said to has every right to be silent.
      if (attempt.forward?.sent !== 0) report({ type: "mute" });
    });
    if (!protocol.clientFirst) return;
    // From here on it is a session whose server has not spoken yet, however long that takes.
    this.hold.stop();
    report({ type: "through" });
    attempt.forward = new Forward(this.held, protocol);
    attempt.connectedAt = clock.now();
    this.passOn(attempt, attempt.forward, approach);
  }

  /** What can't be said twice is the plane's at once; else it is kept until the target's first byte. */
  private passOn(attempt: Attempt, forward: Forward, approach: Approach): void {
    if (forward.repeatable) forward.advance(approach);
    else this.begin(attempt);
  }

  private onFailed(attempt: Attempt, failure: ApproachFailure): void {
    const { forward } = attempt;
    if (forward && !this.mayReplace(attempt, forward)) {
      this.forwarded = forward.sent;
      this.endHold(
        failure === "closed" ? "closed" : "target_reset",
        failure === "closed" ? "close" : "reset",
      );
      return;
    }
    if (forward) this.replaced += 1;
    this.giveBack(failure);
  }

  /** Once: after that a port was proved anew in between, and the end is what the target has to say. */
  private mayReplace(attempt: Attempt, forward: Forward): boolean {
    const { clock, settings } = this.options;
    if (this.replaced > 0) return false;
    const openMs = clock.now() - (attempt.connectedAt ?? 0);
    return forward.sent > 0 || openMs < settings.probeWindowMs;
  }

  private begin(attempt: Attempt): void {
    const { approach, forward } = attempt;
    const { socket: client } = this;
    if (!approach || !client) return;
    const { socket, first } = approach.take();
    this.socket = undefined;
    this.leaveAttempt();
    this.hold.stop();
    this.stage = "spliced";
    this.splicedAt = this.options.clock.now();
    this.forwarded = forward?.sent ?? 0;
    const early = after(this.held.release(), this.forwarded);
    const address = socket.remoteAddress;
    this.splice = this.options.plane.splice(
      { socket: client, pending: early },
      { socket, pending: first },
      (end) => this.finish("spliced", end.reason, end),
    );
    this.options.report({ type: "spliced", address });
  }

  /** Connecting → waiting. No byte of the client has been passed on that can't be again, so nothing is lost. */
  private giveBack(failure: ConnectFailure): void {
    this.leaveAttempt();
    this.stage = "waiting";
    if (!this.hold.running) this.hold.start();
    this.options.report({ type: "returned", failure });
    this.hold.remind();
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
    if (stage === "spliced" || stage === "finished") return;
    const heard: Heard = { bytes: this.held.said.length, sent: this.attempt?.forward?.sent ?? 0 };
    this.cancelQuiet();
    this.leaveAttempt();
    this.dropBegun();
    this.settleOffer();
    this.held.stop();
    this.hold.stop();
    const { socket } = this;
    if (socket && how === "reset") abort(socket);
    else if (socket) closeInOrder(socket, this.options.clock);
    this.finish(stage, reason, undefined, detail, heard);
  }

  private finish(
    stage: Exclude<Stage, "finished">,
    reason: EndReason,
    end: SpliceEnd | undefined,
    detail?: string,
    heard: Heard = { bytes: 1, sent: 0 },
  ): void {
    this.stage = "finished";
    const now = this.options.clock.now();
    const splicedAt = this.splicedAt ?? now;
    const bytesUp = (end?.bytesUp ?? 0) + this.forwarded;
    const bytesDown = end?.bytesDown ?? 0;
    const finish: Finish = {
      reason,
      detail,
      stage,
      heldMs: splicedAt - this.acceptedAt,
      splicedMs: now - splicedAt,
      dials: this.dialCount,
      bytesUp,
      bytesDown,
      scan: this.stranger || isScan(reason, heard),
      unanswered: isUnanswered(reason, stage, bytesUp, bytesDown),
      stranger: this.stranger,
    };
    this.options.report({ type: "finished", finish });
  }
}
