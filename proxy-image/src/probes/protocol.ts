/** What the bytes of a target say so far: whether it serves, can't tell yet, or is there and does not serve yet. */
export type Judgement = "more" | "ready" | "not-ready";

/** Whether a client's first bytes are those of the protocol. */
export type Fit = "more" | "fits" | "unfit";

/** How one port is asked, and how its clients are treated. Judges are pure and see all bytes so far, from the first. */
export interface Protocol {
  /** Sent once connected, on a connection of the probe's own. Absent where the server speaks first. */
  readonly hello?: Buffer;
  judge(bytes: Buffer): Judgement;
  /** A client's bytes are passed on before the target has said anything. */
  readonly clientFirst: boolean;
  /** Whether these, the client's bytes so far, may be sent to a second connection without doing anything twice. */
  repeatable?(sent: Buffer): boolean;
  fits?(bytes: Buffer): Fit;
  /** What a client begins with, of seven bytes at most, where that alone is what `fits` looks for. */
  readonly opening?: Buffer;
}

/** The most of an answer that is looked at: whatever has not convinced by then does not. */
export const JUDGED_BYTES = 16_384;

/** What options and settings a probe is made from. */
export interface Place {
  /** The internal name dialled. */
  host: string;
  /** The target's port. */
  port: number;
}
