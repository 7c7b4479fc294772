import type { Socket } from "node:net";
import type { Leg, Plane, SessionLimits, Splice, SpliceEnd, SpliceEndReason } from "./plane";
import { abort } from "./sockets";

type Side = "client" | "target";

const LONGEST_TICK_MS = 30_000;

/**
 * The plane that runs everywhere: Node's own streams. What the kernel has taken counts as delivered, since Node does
 * not tell what the peer has confirmed.
 */
export class JsPlane implements Plane {
  readonly name = "js";
  private readonly limits: SessionLimits;
  private readonly sessions = new Set<JsSplice>();
  private ticker: NodeJS.Timeout | undefined;

  constructor(limits: SessionLimits) {
    this.limits = limits;
  }

  splice(client: Leg, target: Leg, onEnd: (end: SpliceEnd) => void): Splice {
    const session: JsSplice = new JsSplice(client, target, (end) => {
      this.sessions.delete(session);
      if (this.sessions.size === 0) this.ticker = void clearInterval(this.ticker);
      onEnd(end);
    });
    this.sessions.add(session);
    const { stallMs, halfCloseMs } = this.limits;
    this.ticker ??= setInterval(this.tick, Math.min(stallMs / 4, halfCloseMs / 4, LONGEST_TICK_MS));
    return session;
  }

  private readonly tick = () => {
    const now = performance.now();
    for (const session of this.sessions) session.look(now, this.limits);
  };
}

class JsSplice implements Splice {
  private reason: SpliceEndReason | undefined;
  private halfSince: number | undefined;
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

  /** Ends the session where it has been still for too long. */
  look(now: number, { stallMs, halfCloseMs }: SessionLimits): void {
    const moved = [this.up.look(now), this.down.look(now)].includes(true);
    if (this.up.stuckFor(now) >= stallMs) this.fail("target_stalled");
    else if (this.down.stuckFor(now) >= stallMs) this.fail("client_stalled");
    const half = this.sides.client.readableEnded || this.sides.target.readableEnded;
    if (moved || !half || this.halfSince === undefined) this.halfSince = now;
    else if (now - this.halfSince >= halfCloseMs) this.fail("half_closed");
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
  private delivered = 0;
  private stuckSince: number | undefined;
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

  /** Whether anything was delivered since the last look. */
  look(now: number): boolean {
    const waiting = this.to.writableLength;
    const moved = this.bytes - waiting !== this.delivered;
    this.delivered = this.bytes - waiting;
    if (waiting === 0) this.stuckSince = undefined;
    else if (moved || this.stuckSince === undefined) this.stuckSince = now;
    return moved;
  }

  stuckFor(now: number): number {
    return now - (this.stuckSince ?? now);
  }

  private readonly onData = (chunk: Buffer) => {
    this.pass(chunk);
    // What the kernel takes at once never waits here; as soon as something does, its sender waits too.
    if (this.to.writableLength > 0) this.leg.socket.pause();
    else free(chunk);
  };

  private pass(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.to.write(chunk);
  }
}

/** Below this the collector's work is less than what it would save. */
const LARGE_BYTES = 16 * 1024;

/**
 * Gives the memory of a chunk back that the kernel has copied. Left to the collector, 64 KiB for every read cost it a
 * third of what moving the bytes costs, and pile up until it comes.
 */
export function free({ buffer, byteLength }: Buffer): void {
  if (byteLength >= LARGE_BYTES && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer)
    buffer.transfer(0);
}
