import type { Socket } from "node:net";

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
}
