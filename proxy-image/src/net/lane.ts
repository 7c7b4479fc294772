import type { Server, Socket } from "node:net";
import type { SpliceEnd } from "./plane";

/**
 * The short way of one port: while it is open, the plane itself takes the port's clients, connects each to the target
 * and splices it at the target's first byte, and the event loop has nothing to do with it. Whatever does not go as
 * smoothly as that is handed over. A lane that is shut hands over every client; and it shuts by itself with each that
 * it hands over, so that nobody who comes later overtakes one who waits here.
 */
export interface Lane {
  /** Until it is shut, and at most for so long. Nothing where somebody is handed over whom `shut` has not brought. */
  open(way: Way): void;
  /** Nobody passes any more once this has returned; whoever has passed before is in the news. */
  shut(): LaneNews;
  /** Clients on their way to the target, and those who are to be handed over. */
  readonly held: number;
  readonly spliced: number;
  /** Has those on their way handed over, without what they had of the target. */
  recall(): void;
  /** Ends every client of the lane by a reset. */
  cut(): void;
  /** Stops listening; the clients stay. */
  close(): void;
}

export interface Way {
  address: string;
  port: number;
  forMs: number;
  /** Connections being made at once. */
  dials: number;
}

/** What has happened on a lane since it was last shut. */
export interface LaneNews {
  dialling: number;
  spliced: number;
  /** Clients that the target has spoken to. */
  joined: number;
  /** In accepting, such as no descriptors left. */
  trouble: Error | undefined;
  handed: HandedOver[];
  ended: LaneEnd[];
}

/** A client who is not the lane's any more. The sockets are paused. */
export interface HandedOver {
  socket: Socket;
  /** Its connection to a target that has not spoken yet. */
  target: Socket | undefined;
  /** Since it was accepted, and that connection was begun. */
  heldMs: number;
}

export interface LaneEnd extends SpliceEnd {
  heldMs: number;
  splicedMs: number;
  /** What it said first is not the lane's opening. */
  stranger: boolean;
  address: () => string;
}

/** How many clients several lanes may hold together. */
export interface Room {
  /** Nobody, at first. Those that are there stay. */
  setCap(cap: number): void;
}

export interface LaneOptions<R extends Room = Room> {
  /** Clients are in both. */
  rooms: readonly [R, R];
  /** What clients say first who are no strangers. Absent: nobody is one. */
  opening: Buffer | undefined;
  /** `shut` would bring something. */
  onNews: () => void;
}

/** What of a plane makes lanes. */
export interface LaneMaker<R extends Room = Room> {
  room(): R;
  /**
   * Takes over the port of a server, which may be closed then. Undefined where it can't be done.
   */
  take(server: Server, options: LaneOptions<R>): Lane | undefined;
}
