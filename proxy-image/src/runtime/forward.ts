import type { Approach } from "../net/approach";
import type { HeldSocket } from "../net/held";
import type { Protocol } from "../probes/protocol";

/**
 * Passes a client's bytes on before the target has said anything, and keeps them: as long as they may be said twice,
 * a connection that ends before the target's first byte can be replaced.
 */
export class Forward {
  /** Bytes that the target has been sent. */
  sent = 0;
  private phase: "open" | "ended" = "open";
  private readonly held: HeldSocket;
  private readonly protocol: Protocol;

  constructor(held: HeldSocket, protocol: Protocol) {
    this.held = held;
    this.protocol = protocol;
  }

  /** Whether everything that the client has said so far may be said again. */
  get repeatable(): boolean {
    return this.held.complete && (this.protocol.repeatable?.(this.held.said) ?? false);
  }

  /** Passes on what is new. */
  advance(approach: Approach): void {
    const { said } = this.held;
    approach.send(said.subarray(this.sent));
    this.sent = said.length;
    if (!this.held.ended || this.phase === "ended") return;
    this.phase = "ended";
    approach.sendEnd();
  }
}
