import type { Clock } from "./clock";

/** How long before its end a hold is announced: time enough to connect to a target that answers. */
export const holdWarningMs = (maxHoldMs: number): number => Math.min(2_000, maxHoldMs / 10);

export interface HoldEvents {
  /** The end is near. False: it can't be told now, and is once `remind` is called. */
  ending: () => boolean;
  over: () => void;
}

/** The time that one client may wait. */
export class Hold {
  running = false;
  private warning: "ahead" | "due" | "given" = "ahead";
  private cancel = () => {};
  private readonly clock: Clock;
  private readonly maxHoldMs: number;
  private readonly events: HoldEvents;

  constructor(clock: Clock, maxHoldMs: number, events: HoldEvents) {
    this.clock = clock;
    this.maxHoldMs = maxHoldMs;
    this.events = events;
  }

  /** From now on, whatever it was before, or from so long ago. */
  start(elapsedMs = 0): void {
    this.stop();
    this.running = true;
    this.warning = "ahead";
    const warningMs = holdWarningMs(this.maxHoldMs);
    this.cancel = this.clock.timer(Math.max(0, this.maxHoldMs - warningMs - elapsedMs), () => {
      this.cancel = this.clock.timer(warningMs, this.events.over);
      this.warning = "due";
      this.remind();
    });
  }

  stop(): void {
    this.running = false;
    this.cancel();
  }

  remind(): void {
    if (this.running && this.warning === "due" && this.events.ending()) this.warning = "given";
  }
}
