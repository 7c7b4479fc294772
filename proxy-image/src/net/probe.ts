import type { ProbeOutcome } from "../core/types";
import { Approach, type ApproachOptions } from "./approach";

export interface ProbeOptions extends ApproachOptions {
  /** How long the target may take to speak, once connected. */
  windowMs: number;
}

/** One look at a port. Nothing is sent, and whatever is found, nothing of it stays. */
export function probe(options: ProbeOptions): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    let cancelWindow = () => {};
    const settle = (outcome: ProbeOutcome) => {
      cancelWindow();
      resolve(outcome);
    };
    const approach = new Approach(options, {
      connected: () => {
        cancelWindow = options.clock.timer(options.windowMs, () => {
          approach.abandon();
          settle("silent");
        });
      },
      spoke: () => {
        approach.take().socket.destroy();
        settle("answered");
      },
      failed: (failure) => settle(failure === "timeout" ? "unreachable" : failure),
    });
  });
}
