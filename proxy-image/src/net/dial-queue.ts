/** A place in the queue, and then the slot itself. */
export interface Ticket {
  /** Gives the place or the slot back. Does nothing the second time. */
  leave(): void;
}

/**
 * Limits the connections being made to a target at once; the others wait, first come first served. Some are made
 * elsewhere, and whoever sees their number fall calls `advance`.
 */
export class DialQueue {
  private going = 0;
  private readonly waiting = new Set<() => void>();
  private readonly limit: number;
  private readonly elsewhere: () => number;

  constructor(limit: number, elsewhere: () => number = () => 0) {
    this.limit = limit;
    this.elsewhere = elsewhere;
  }

  /** Connections that may yet be begun. */
  get free(): number {
    return Math.max(0, this.limit - this.going - this.elsewhere());
  }

  /** A slot for a connection that is being made already: the limit was kept when it was begun. */
  occupy(): Ticket {
    this.going += 1;
    let phase: "going" | "left" = "going";
    return {
      leave: () => {
        if (phase === "left") return;
        phase = "left";
        this.going -= 1;
        this.advance();
      },
    };
  }

  /** `go` is called once there is a slot: at once or later, and never after `leave`. */
  enter(go: () => void): Ticket {
    let slot: Ticket | undefined;
    const start = () => {
      slot = this.occupy();
      go();
    };
    this.waiting.add(start);
    this.advance();
    return {
      leave: () => {
        if (!this.waiting.delete(start)) slot?.leave();
      },
    };
  }

  /** Lets the first ones in the queue go, as far as there are slots. */
  advance(): void {
    for (const next of this.waiting) {
      if (this.free === 0) return;
      this.waiting.delete(next);
      next();
    }
  }
}
