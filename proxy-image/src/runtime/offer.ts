import type { ProbeOutcome } from "../core/types";
import { Approach, type ApproachOptions } from "../net/approach";
import type { Attempt } from "./attempt";
import type { Forward } from "./forward";

/** A probe made of a client's own bytes. What answers it becomes the client's connection, or is given up. */
export class Offer {
  readonly outcome: Promise<ProbeOutcome>;
  private phase: "asking" | "answered" | "over" = "asking";
  private readonly approach: Approach;
  private readonly forward: Forward;
  private readonly begunAt: number;
  private cancelWindow = () => {};
  private resolve: (outcome: ProbeOutcome) => void = () => {};

  constructor(options: ApproachOptions, windowMs: number, forward: Forward) {
    this.forward = forward;
    this.begunAt = options.clock.now();
    this.outcome = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.approach = new Approach(options, {
      connected: () => {
        forward.advance(this.approach);
        this.cancelWindow = options.clock.timer(windowMs, () => this.settle("silent"));
      },
      spoke: () => {
        this.phase = "answered";
        this.cancelWindow();
        this.resolve("answered");
      },
      failed: (failure) => this.settle(failure === "timeout" ? "unreachable" : failure),
    });
  }

  /** The answered connection, once. */
  take(): Pick<Attempt, "approach" | "forward" | "begunAt"> | undefined {
    const { approach, forward, begunAt } = this;
    if (this.phase !== "answered") {
      this.abandon();
      return undefined;
    }
    this.phase = "over";
    return { approach, forward, begunAt };
  }

  /** Says nothing about the target. */
  abandon(): void {
    if (this.phase === "answered") this.approach.take().socket.destroy();
    this.settle("unreachable");
  }

  private settle(outcome: ProbeOutcome): void {
    if (this.phase === "over") return;
    this.phase = "over";
    this.cancelWindow();
    this.approach.abandon();
    this.resolve(outcome);
  }
}
