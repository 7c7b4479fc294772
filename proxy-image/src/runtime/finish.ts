import type { LaneEnd } from "../net/lane";
import type { SpliceEndReason } from "../net/plane";

export type Stage =
  /** Has not said yet what would wake the target. */
  "pending" | "waiting" | "connecting" | "spliced" | "finished";

export type EndReason =
  | SpliceEndReason
  /** The client ended in order before it had sent a byte or seen one. */
  | "client_left"
  /** What the client said first is not the protocol of its port. */
  | "unfit"
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
  /** It ended by itself without a byte, or its first bytes were not the protocol's. */
  scan: boolean;
  /** The target ended it without having said a byte. */
  unanswered: boolean;
  /** What it said would not have woken the target, which was awake anyway. */
  stranger: boolean;
}

/** What a client that was held had said, and how much of it the target had been sent. */
export interface Heard {
  bytes: number;
  sent: number;
}

export const isScan = (reason: EndReason, { bytes }: Heard): boolean =>
  reason === "unfit" || ((reason === "client_left" || reason === "client_reset") && bytes === 0);

/** A client that ends its own half first and wants no answer looks the same: one probe more is all that it costs. */
export const isUnanswered = (
  reason: EndReason,
  stage: Exclude<Stage, "finished">,
  bytesUp: number,
  bytesDown: number,
): boolean =>
  (stage === "spliced" || stage === "connecting") &&
  bytesDown === 0 &&
  (reason === "target_reset" || (reason === "closed" && bytesUp > 0));

/** The account of a client that passed by a lane. */
export const passed = ({ reason, heldMs, splicedMs, bytesUp, bytesDown, stranger }: LaneEnd): Finish => ({
  reason,
  detail: undefined,
  stage: "spliced",
  heldMs,
  splicedMs,
  dials: 1,
  bytesUp,
  bytesDown,
  scan: stranger,
  unanswered: false,
  stranger,
});
