import type { Approach } from "../net/approach";
import type { Ticket } from "../net/dial-queue";
import type { Forward } from "./forward";

/** A connection being made to the target for one client. */
export interface Attempt {
  ticket: Ticket;
  /** Absent while it waits for its turn. */
  approach?: Approach;
  begunAt?: number;
  connectedAt?: number;
  /** The client's bytes pass through it already. */
  forward?: Forward;
  cancelMute?: () => void;
}
