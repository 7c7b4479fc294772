import { type LookupFunction, Socket } from "node:net";
import type { Clock } from "../runtime/clock";
import { ADDRESS_TIMEOUT_MS, drainBuffered, HIGH_WATER_MARK, harmless, KEEPALIVE_MS } from "./sockets";

/** How a connection to the target ended before the target's first byte. */
export type ApproachFailure = "refused" | "closed" | "reset" | "unreachable" | "timeout";

export const DIAL_TIMEOUT_MS = 5_000;

/** Options that `net.connect` documents for the socket; its types name them only there. */
const SOCKET_OPTIONS = {
  allowHalfOpen: true,
  highWaterMark: HIGH_WATER_MARK,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: KEEPALIVE_MS,
};

export interface ApproachOptions {
  host: string;
  port: number;
  clock: Clock;
  dialTimeoutMs?: number | undefined;
  /** Sent as soon as it is connected. */
  opening?: Buffer | undefined;
  /** Names are resolved afresh for every dial: an address may change across a wake. */
  lookup?: LookupFunction | undefined;
  /** A connection that stands already, and has not been read. `connected` is not told of it. */
  begun?: Socket | undefined;
}

export interface ApproachEvents {
  connected?: () => void;
  /** The target's first bytes are there. */
  spoke: () => void;
  failed: (failure: ApproachFailure) => void;
}

/**
 * One connection to the target up to its first byte. An accept proves nothing, since the mesh accepts for a target
 * that is suspended: only bytes do. Ends once: with `spoke`, with `failed`, or silently by `abandon`.
 */
export class Approach {
  private phase: "dialling" | "connected" | "over" = "dialling";
  private readonly socket: Socket;
  private readonly cancelTimeout: () => void;
  private readonly events: ApproachEvents;
  private readonly opening: Buffer | undefined;

  constructor(options: ApproachOptions, events: ApproachEvents) {
    this.events = events;
    this.opening = options.opening;
    const { begun } = options;
    this.socket = begun ?? harmless(new Socket(SOCKET_OPTIONS));
    this.cancelTimeout = begun
      ? () => {}
      : options.clock.timer(options.dialTimeoutMs ?? DIAL_TIMEOUT_MS, () => this.fail("timeout"));
    this.socket.on("connect", this.onConnect);
    this.socket.on("readable", this.onReadable);
    this.socket.on("end", this.onEnd);
    this.socket.on("error", this.onError);
    this.socket.on("close", this.onEnd);
    if (begun) {
      this.phase = "connected";
      return;
    }
    this.socket.connect({
      host: options.host,
      port: options.port,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      ...(options.lookup ? { lookup: options.lookup } : {}),
    });
  }

  /** Once connected: the socket and what it has said. It belongs to the caller from here on. */
  take(): { socket: Socket; first: Buffer[] } {
    if (this.phase !== "over") this.settle();
    return { socket: this.socket, first: drainBuffered(this.socket) };
  }

  /** Once connected: what the client says, before the target has said anything. */
  send(bytes: Buffer): void {
    if (this.phase === "connected" && bytes.length > 0) this.socket.write(bytes);
  }

  /** Once connected: the client will say no more. */
  sendEnd(): void {
    if (this.phase === "connected") this.socket.end();
  }

  abandon(): void {
    if (this.phase === "over") return;
    this.settle();
    this.socket.destroy();
  }

  private readonly onConnect = () => {
    this.phase = "connected";
    this.cancelTimeout();
    if (this.opening) this.send(this.opening);
    this.events.connected?.();
  };

  private readonly onReadable = () => {
    if (this.socket.readableLength === 0) {
      // Only an end is readable: asking for it makes the stream say so.
      this.socket.read();
      return;
    }
    this.settle();
    this.events.spoke();
  };

  private readonly onEnd = () => this.fail("closed");

  private readonly onError = (error: Error) => this.fail(failureOf(error));

  private fail(failure: ApproachFailure): void {
    if (this.phase === "over") return;
    this.settle();
    this.socket.destroy();
    this.events.failed(failure);
  }

  private settle(): void {
    this.phase = "over";
    this.cancelTimeout();
    this.socket.off("connect", this.onConnect);
    this.socket.off("readable", this.onReadable);
    this.socket.off("end", this.onEnd);
    this.socket.off("error", this.onError);
    this.socket.off("close", this.onEnd);
  }
}

const FAILURES: Partial<Record<string, ApproachFailure>> = {
  ECONNREFUSED: "refused",
  ECONNRESET: "reset",
  EPIPE: "reset",
  ECONNABORTED: "reset",
  ETIMEDOUT: "timeout",
};

/** With several addresses there are several errors: one refusal tells more than any number of dead ends. */
export function failureOf(error: Error): ApproachFailure {
  const errors = error instanceof AggregateError ? error.errors : [error];
  const failures = errors.map((one: NodeJS.ErrnoException) => FAILURES[one.code ?? ""] ?? "unreachable");
  return failures.find((failure) => failure !== "unreachable") ?? "unreachable";
}
