/** A place in the queue, and then the slot itself. */
export interface Ticket {
  /** Gives the place or the slot back. Does nothing the second time. */
  leave(): void;
}

/** Limits the connections being made to a target at once; the others wait, first come first served. */
export class DialQueue {
  private going = 0;
  private readonly waiting = new Set<() => void>();
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** `go` is called once there is a slot: at once or later, and never after `leave`. */
  enter(go: () => void): Ticket {
    let phase: "waiting" | "going" | "left" = "waiting";
    const start = () => {
      phase = "going";
      this.going += 1;
      go();
    };
    const ticket: Ticket = {
      leave: () => {
        const before = phase;
        phase = "left";
        if (before === "waiting") this.waiting.delete(start);
        if (before === "going") {
          this.going -= 1;
          this.advance();
        }
      },
    };
    this.waiting.add(start);
    this.advance();
    return ticket;
  }

  private advance(): void {
    if (this.going >= this.limit) return;
    const [next] = this.waiting;
    if (next === undefined) return;
    this.waiting.delete(next);
    next();
  }
}
