import type { Socket } from "node:net";
import type { LaneMaker } from "./lane";

/** One side of a session, with the bytes that were read from it and not yet passed on. */
export interface Leg {
  socket: Socket;
  pending: readonly Buffer[];
}

export type SpliceEndReason =
  /** Both directions ended in order. */
  | "closed"
  /** One side reset the session, and the other was told so. */
  | "client_reset"
  | "target_reset"
  /** One side no longer answers keepalives. */
  | "client_lost"
  | "target_lost"
  /** One side has taken nothing of what waits for it, for as long as `STALL_LIMIT`. */
  | "client_stalled"
  | "target_stalled"
  /** One side had ended, and nothing has moved since for as long as `HALF_CLOSE_LINGER`. */
  | "half_closed"
  /** The system did not let the plane go on with it. */
  | "broken"
  /** Ended by the proxy itself. */
  | "cut";

export interface SpliceEnd {
  reason: SpliceEndReason;
  bytesUp: number;
  bytesDown: number;
}

export interface Splice {
  /** Resets both sides. The end is reported as usual. */
  cut(): void;
}

/**
 * Moves the bytes of spliced sessions. Half-closes pass through in both directions, a reset stays a reset, and a slow
 * reader slows its sender down. The sockets belong to the plane from the call on.
 */
export interface Plane {
  readonly name: "js" | "native";
  /** `onEnd` is called once, when both sockets are closed; never before `splice` has returned. */
  splice(client: Leg, target: Leg, onEnd: (end: SpliceEnd) => void): Splice;
  /**
   * Watches a client that is held, without reading it: `onHangUp(false)` once it has ended its side in order, bytes
   * unread before that or not, and `onHangUp(true)` once it is gone. The result stops the watch. Absent where it can't
   * be done.
   */
  watch?(socket: Socket, onHangUp: (gone: boolean) => void): () => void;
  /** Absent where every client is the event loop's. */
  readonly lanes?: LaneMaker;
}

/** When a session that is not over is ended all the same. */
export interface SessionLimits {
  /** How long an end may take nothing of what waits for it. */
  stallMs: number;
  /** How long a session may stay half-closed while nothing moves. */
  halfCloseMs: number;
}
