import type { Clock } from "../runtime/clock";
import type { Log } from "./log";

const EVERY_MS = 60_000;

/** Single lines a minute about clients; beyond it a flood of resets would cost more than it tells. */
const LINES_A_MINUTE = 60;

export interface Ended {
  reason: string;
  heldMs: number;
  bytesUp: number;
  bytesDown: number;
  scan?: boolean;
}

/** What happened to clients since the last summary. Says nothing while nothing happens. */
export class Sums {
  private accepted = 0;
  private ended = new Map<string, number>();
  private scans = 0;
  private longestHoldMs = 0;
  private bytesUp = 0;
  private bytesDown = 0;
  private lines = 0;
  private unlogged = 0;
  private cancelTimer: (() => void) | undefined;
  private readonly log: Log;
  private readonly clock: Clock;

  constructor(log: Log, clock: Clock) {
    this.log = log;
    this.clock = clock;
  }

  countAccepted(clients = 1): void {
    this.accepted += clients;
    this.arm();
  }

  countEnded(ended: Ended): void {
    this.ended.set(ended.reason, (this.ended.get(ended.reason) ?? 0) + 1);
    if (ended.scan) this.scans += 1;
    this.longestHoldMs = Math.max(this.longestHoldMs, ended.heldMs);
    this.bytesUp += ended.bytesUp;
    this.bytesDown += ended.bytesDown;
    this.arm();
  }

  /** Whether a line about a single client may still be written in this minute. */
  mayLog(): boolean {
    this.arm();
    if (this.lines < LINES_A_MINUTE) {
      this.lines += 1;
      return true;
    }
    this.unlogged += 1;
    return false;
  }

  flush(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    if (this.accepted > 0 || this.ended.size > 0 || this.unlogged > 0) {
      this.log.event("connections", {
        accepted: this.accepted,
        ended: Object.fromEntries(this.ended),
        scans: this.scans,
        unlogged: this.unlogged,
        longestHoldMs: Math.round(this.longestHoldMs),
        bytesUp: this.bytesUp,
        bytesDown: this.bytesDown,
      });
    }
    this.accepted = 0;
    this.scans = 0;
    this.ended = new Map();
    this.longestHoldMs = 0;
    this.bytesUp = 0;
    this.bytesDown = 0;
    this.lines = 0;
    this.unlogged = 0;
  }

  private arm(): void {
    this.cancelTimer ??= this.clock.timer(EVERY_MS, () => this.flush());
  }
}
