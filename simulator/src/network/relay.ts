import type { Socket } from "node:net";
import type { Clock } from "../model.ts";

export interface RelayEvents {
  onBytes(direction: "in" | "out", count: number): void;
  /** Once, when both sockets are closed. */
  onEnd(): void;
}

export interface Relay {
  /** Ends both sides at once, as when the machine behind one of them goes away. */
  cut(how: "close" | "reset"): void;
}

/**
 * Copies between two sockets that were opened with `allowHalfOpen`: each direction ends by itself, a reset on one
 * side becomes a reset on the other, and a slow reader slows its writer down.
 */
export function relay(
  client: Socket,
  replica: Socket,
  events: RelayEvents,
  silence?: { clock: Clock; cutMs: number },
): Relay {
  let open = 2;
  const cut = (how: "close" | "reset") => {
    for (const socket of [client, replica]) {
      if (socket.destroyed) continue;
      if (how === "reset") socket.resetAndDestroy();
      else socket.destroy();
    }
  };
  const watch =
    silence === undefined ? undefined : silenceWatch(silence.clock, silence.cutMs, () => cut("close"));
  const closed = () => {
    open -= 1;
    if (open > 0) return;
    watch?.stop();
    events.onEnd();
  };

  const copy = (from: Socket, to: Socket, direction: "in" | "out") => {
    from.on("data", (chunk: Buffer) => {
      events.onBytes(direction, chunk.length);
      watch?.heard();
      if (!to.write(chunk)) from.pause();
    });
    to.on("drain", () => from.resume());
    from.on("end", () => to.end());
    // Whatever the error was, the other side must not take it for an orderly end.
    from.on("error", () => {
      if (!to.destroyed) to.resetAndDestroy();
    });
    from.on("close", () => {
      // Closed without having ended both ways: nothing more can pass, so the other side ends too.
      if (!to.destroyed && !(from.readableEnded && from.writableFinished)) to.destroySoon();
      closed();
    });
  };
  copy(client, replica, "in");
  copy(replica, client, "out");
  client.resume();
  replica.resume();
  return { cut };
}

/** One timer that looks back, instead of one restarted for every chunk. */
function silenceWatch(clock: Clock, cutMs: number, onSilence: () => void): { heard(): void; stop(): void } {
  let last = clock.now();
  let cancel = () => {};
  const look = () => {
    const left = last + cutMs - clock.now();
    if (left <= 0) onSilence();
    else cancel = clock.after(left, look);
  };
  cancel = clock.after(cutMs, look);
  return {
    heard: () => {
      last = clock.now();
    },
    stop: () => cancel(),
  };
}
