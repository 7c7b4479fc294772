import type { Socket } from "node:net";
import type { ProbeOutcome } from "../core/types";
import { JUDGED_BYTES, type Protocol } from "../probes/protocol";
import { Approach, type ApproachFailure, type ApproachOptions, failureOf } from "./approach";

export interface ProbeOptions extends Omit<ApproachOptions, "opening"> {
  /** How long the target may take to convince, once connected. */
  windowMs: number;
  /** How it is asked, and what convinces; any byte that it says unasked, unless given. */
  protocol?: Protocol;
}

const anyBanner: Protocol = { clientFirst: false, judge: (bytes) => (bytes.length > 0 ? "ready" : "more") };

/** One look at a port, on a connection of its own of which nothing stays. */
export function probe(options: ProbeOptions): Promise<ProbeOutcome> {
  const { clock, windowMs, protocol = anyBanner } = options;
  return new Promise((resolve) => {
    let cancelWindow = () => {};
    let socket: Socket | undefined;
    const settle = (outcome: ProbeOutcome) => {
      cancelWindow();
      approach.abandon();
      socket?.destroy();
      resolve(outcome);
    };
    const approach = new Approach(
      { ...options, opening: protocol.hello },
      {
        connected: () => {
          cancelWindow = clock.timer(windowMs, () => settle("silent"));
        },
        spoke: () => {
          const taken = approach.take();
          socket = taken.socket;
          listen(socket, Buffer.concat(taken.first), protocol, settle);
        },
        failed: (failure) => settle(outcomeOf(failure)),
      },
    );
  });
}

const outcomeOf = (failure: ApproachFailure): ProbeOutcome =>
  failure === "timeout" ? "unreachable" : failure;

/** Reads on until the judge has heard enough. Whoever said something and then ended was there, and does not serve. */
function listen(
  socket: Socket,
  first: Buffer,
  { judge }: Protocol,
  settle: (outcome: ProbeOutcome) => void,
): void {
  let bytes = first;
  const decide = () => {
    const judgement = judge(bytes);
    if (judgement === "ready") settle("answered");
    else if (judgement === "not-ready" || bytes.length >= JUDGED_BYTES) settle("unready");
    else return false;
    return true;
  };
  if (decide()) return;
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    decide();
  });
  socket.on("end", () => settle("unready"));
  socket.on("error", (error) => settle(failureOf(error) === "reset" ? "unready" : "unreachable"));
}
