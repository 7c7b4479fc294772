import type { Socket } from "node:net";
import type { EarlyBudget } from "./early-budget";
import type { Plane } from "./plane";
import { drainBuffered } from "./sockets";

/** Why a held client is gone. */
export type HeldEnd =
  /** An orderly end without a byte: nobody waits for an answer. */
  "client_left" | "client_reset";

export interface HeldOptions {
  earlyBytes: number;
  /** What an end without a byte means: nobody waits any more, or somebody only listens. */
  clientFin: "leave" | "wait";
  budget: EarlyBudget;
  plane: Pick<Plane, "watch">;
  onEnd: (end: HeldEnd) => void;
  /** Bytes came, or an end after bytes, or no more will be read. */
  onBytes?: () => void;
}

/**
 * A client's socket while nothing answers it. Reading is the only way to learn that the client is gone, so early bytes
 * are read and kept, in order, up to a bound; past it the socket is left unread and TCP holds the client back. A plane
 * that can watch it tells of its end then.
 */
export class HeldSocket {
  private phase: "watching" | "full" | "over" = "watching";
  private readonly early: Buffer[] = [];
  private kept = 0;
  /** What this socket counts in the budget: bytes kept here, and those left in the stream. */
  private counted = 0;
  private unwatch = () => {};
  /** Let go at the end: a session that is the plane's keeps nothing of it. */
  private socket: Socket | undefined;
  private readonly options: HeldOptions;

  constructor(socket: Socket, options: HeldOptions) {
    this.socket = socket;
    this.options = options;
    socket.on("error", this.onGone);
    socket.on("close", this.onGone);
    socket.on("end", this.onFin);
    // Nothing may be kept: then nothing is read.
    if (options.earlyBytes === 0 || options.budget.exhausted) this.fill();
    else socket.on("readable", this.onReadable);
  }

  /** What the client has said so far, as far as it is kept. */
  get said(): Buffer {
    return Buffer.concat(this.early);
  }

  /** The client has ended its half, and everything that it said is kept. */
  get ended(): boolean {
    return this.phase === "watching" && this.socket?.readableEnded === true;
  }

  /** All that has come is kept: the bound was not reached. */
  get complete(): boolean {
    return this.phase === "watching";
  }

  /** Hands the socket over with the bytes that were read from it. An end that was seen shows in `readableEnded`. */
  release(): Buffer[] {
    const { socket } = this;
    const early = this.early.splice(0);
    this.stop();
    return socket ? [...early, ...drainBuffered(socket)] : early;
  }

  /** Stops watching; the early bytes are forgotten. */
  stop(): void {
    if (this.phase === "over") return;
    this.phase = "over";
    this.unwatch();
    this.options.budget.give(this.counted);
    const { socket } = this;
    this.socket = undefined;
    socket?.off("error", this.onGone);
    socket?.off("close", this.onGone);
    socket?.off("end", this.onFin);
    socket?.off("readable", this.onReadable);
    socket?.off("readable", this.onLook);
  }

  private readonly onReadable = () => {
    const { socket } = this;
    if (this.phase !== "watching" || !socket) return;
    const waiting = socket.readableLength;
    this.count(waiting);
    if (waiting > 0 && (this.kept + waiting > this.options.earlyBytes || this.options.budget.exhausted)) {
      // Left in the stream, which reads no further: that is the back-pressure.
      this.fill();
      this.options.onBytes?.();
      return;
    }
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    this.early.push(chunk);
    this.kept += chunk.length;
    this.options.onBytes?.();
  };

  private fill(): void {
    this.phase = "full";
    if (this.socket) this.unwatch = this.options.plane.watch?.(this.socket, this.onHangUp) ?? this.unwatch;
  }

  /** Whoever has ended in order after bytes still waits for the answer to them. */
  private readonly onHangUp = (gone: boolean) => {
    const { socket } = this;
    if (this.phase !== "full" || !socket) return;
    if (gone) this.end("client_reset");
    // Nothing of it was ever read: one look tells whether there is anything but the end.
    else if (this.kept === 0 && socket.readableLength === 0) socket.on("readable", this.onLook);
  };

  private readonly onLook = () => {
    const { socket } = this;
    if (!socket) return;
    socket.off("readable", this.onLook);
    this.count(socket.readableLength);
    if (socket.readableLength === 0) socket.read();
  };

  private count(bytes: number): void {
    this.counted += bytes;
    this.options.budget.add(bytes);
  }

  private readonly onFin = () => {
    // With bytes it is a request whose sender has nothing to add.
    if (this.kept === 0 && this.options.clientFin === "leave") this.end("client_left");
    else this.options.onBytes?.();
  };

  private readonly onGone = () => this.end("client_reset");

  private end(end: HeldEnd): void {
    this.stop();
    this.options.onEnd(end);
  }
}
