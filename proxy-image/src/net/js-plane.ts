import type { Socket } from "node:net";
import type { Leg, Plane, Splice, SpliceEnd, SpliceEndReason } from "./plane";
import { abort } from "./sockets";

type Side = "client" | "target";

/** The plane that runs everywhere: Node's own streams. */
export const jsPlane: Plane = {
  name: "js",
  splice: (client, target, onEnd) => new JsSplice(client, target, onEnd),
};

class JsSplice implements Splice {
  private reason: SpliceEndReason | undefined;
  private open = 2;
  private readonly up: Pump;
  private readonly down: Pump;
  private readonly sides: Record<Side, Socket>;
  private readonly onEnd: (end: SpliceEnd) => void;

  constructor(client: Leg, target: Leg, onEnd: (end: SpliceEnd) => void) {
    this.onEnd = onEnd;
    this.sides = { client: client.socket, target: target.socket };
    this.watch("client");
    this.watch("target");
    this.up = new Pump(client, target.socket);
    this.down = new Pump(target, client.socket);
  }

  cut(): void {
    this.fail("cut");
  }

  private watch(side: Side): void {
    const socket = this.sides[side];
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.fail(error.code === "ETIMEDOUT" ? `${side}_lost` : `${side}_reset`);
    });
    const onClose = () => {
      // Closed by an error or by `cut`, unless everything had been passed on.
      if (!socket.readableEnded || !socket.writableFinished) this.fail(`${side}_reset`);
      this.open -= 1;
      if (this.open > 0) return;
      this.onEnd({ reason: this.reason ?? "closed", bytesUp: this.up.bytes, bytesDown: this.down.bytes });
    };
    // A socket can be gone before the session begins: its close has been seen by nobody here.
    if (socket.closed) setImmediate(onClose);
    else socket.on("close", onClose);
  }

  private fail(reason: SpliceEndReason): void {
    this.reason ??= reason;
    abort(this.sides.client);
    abort(this.sides.target);
  }
}

/** One direction. */
class Pump {
  bytes = 0;
  private readonly leg: Leg;
  private readonly to: Socket;

  constructor(leg: Leg, to: Socket) {
    this.leg = leg;
    this.to = to;
    const from = leg.socket;
    for (const chunk of leg.pending) this.pass(chunk);
    if (from.readableEnded) {
      to.end();
      return;
    }
    from.on("data", this.onData);
    from.on("end", () => to.end());
    to.on("drain", () => from.resume());
    if (to.writableLength === 0) from.resume();
  }

  private readonly onData = (chunk: Buffer) => {
    this.pass(chunk);
    // What the kernel takes at once never waits here; as soon as something does, its sender waits too.
    if (this.to.writableLength > 0) this.leg.socket.pause();
  };

  private pass(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.to.write(chunk);
  }
}
