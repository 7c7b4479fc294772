import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { fdOf, NativeLanes, REASONS, type SpliceLanes } from "./native-lane";
import type { Leg, Plane, Splice, SpliceEnd } from "./plane";
import { drainBuffered, KEEPALIVE_MS } from "./sockets";

/** What proxy-image/native/addon offers; the words are explained there. */
interface Addon {
  SplicePlane: new (
    options: NativeOptions,
    ended: (id: number, reason: number, errno: number, bytesUp: number, bytesDown: number) => void,
    hungUp: (watch: number, gone: boolean) => void,
    news: (lane: number) => void,
  ) => SplicePlane;
}

interface SplicePlane extends SpliceLanes {
  readonly live: number;
  add(clientFd: number, targetFd: number, early?: Uint8Array, first?: Uint8Array): number;
  end(id: number, reset: boolean): void;
  counts(id: number): PairCounts | undefined;
  stats(): NativeStats;
  askRound(): number;
  roundOver(round: number): boolean;
  watch(fd: number): number;
  unwatch(watch: number): void;
  stop(): void;
}

export interface NativeOptions {
  /** How long an end may take nothing of what waits for it; 0 for ever. */
  stallMs?: number;
  /** How long a session may stay half-closed while nothing moves; 0 for ever. */
  halfCloseMs?: number;
  keepAlive?: { idleSeconds: number; intervalSeconds: number; count: number };
  pipeBytes?: number;
  idlePipes?: number;
  maxPipes?: number;
  /** False: copy every byte, as where the kernel doesn't splice. */
  splice?: boolean;
}

export interface PairCounts {
  bytesUp: number;
  bytesDown: number;
  /** Since a byte was last delivered. */
  idleMs: number;
}

export interface NativeStats {
  live: number;
  /** Those of `live` that lanes have and the target has not spoken to. */
  approaching: number;
  pipes: number;
  idlePipes: number;
  bytesUp: number;
  bytesDown: number;
  splices: boolean;
}

/** A dead peer is noticed within a minute and a half. */
const KEEP_ALIVE = { idleSeconds: KEEPALIVE_MS / 1_000, intervalSeconds: 10, count: 6 };

/** The longest that Node's timers can wait. */
const FOREVER_MS = 2 ** 31 - 1;

/**
 * Hands sessions to a thread that moves their bytes by splice(2). The sockets leave Node altogether: nothing of a
 * session is on the heap but the callback for its end.
 */
export class NativePlane implements Plane {
  readonly name = "native";
  private readonly plane: SplicePlane;
  private readonly fallback: Plane;
  private readonly sessions = new Map<number, (end: SpliceEnd) => void>();
  private readonly watches = new Map<number, (gone: boolean) => void>();
  readonly lanes: NativeLanes;
  /** The addon doesn't keep the process alive, and its sessions must. */
  private readonly keeper: NodeJS.Timeout;

  /** Throws where the addon can't be loaded. What it can't take goes to `fallback`. */
  constructor(addonFile: string, fallback: Plane, options: NativeOptions = {}) {
    // Not `require`: the bundler would want to see the file.
    const { SplicePlane }: Addon = createRequire(addonFile)(addonFile);
    this.fallback = fallback;
    this.plane = new SplicePlane({ keepAlive: KEEP_ALIVE, ...options }, this.onEnded, this.onHungUp, (lane) =>
      this.lanes.news(lane),
    );
    this.lanes = new NativeLanes(this.plane, () => this.keep());
    this.keeper = setInterval(() => {}, FOREVER_MS).unref();
  }

  splice(client: Leg, target: Leg, onEnd: (end: SpliceEnd) => void): Splice {
    const legs = [read(client), read(target)] as const;
    const id = this.take(...legs);
    if (id === undefined) return this.fallback.splice(...legs, onEnd);
    // The plane has descriptors of its own: closing Node's ends nothing.
    client.socket.destroy();
    target.socket.destroy();
    this.sessions.set(id, onEnd);
    this.keep();
    return { cut: () => this.plane.end(id, true) };
  }

  watch(socket: Socket, onHangUp: (gone: boolean) => void): () => void {
    const fd = descriptorOf(socket);
    if (fd === undefined) return () => {};
    const watch = this.tryWatch(fd);
    if (watch === undefined) return () => {};
    this.watches.set(watch, onHangUp);
    return () => {
      if (this.watches.delete(watch)) this.plane.unwatch(watch);
    };
  }

  stats(): NativeStats {
    return this.plane.stats();
  }

  /**
   * Asks the thread for one more turn. The result tells whether it is over: then everything is dealt with that had
   * happened to a socket before. For tests, whose time stands still meanwhile.
   */
  round(): () => boolean {
    const round = this.plane.askRound();
    return () => this.plane.roundOver(round);
  }

  /** Cuts what is left. */
  stop(): void {
    this.plane.stop();
  }

  private tryWatch(fd: number): number | undefined {
    try {
      return this.plane.watch(fd);
    } catch {
      // The client is as unseen as it would be without the plane.
      return undefined;
    }
  }

  private take(client: Leg, target: Leg): number | undefined {
    const [clientFd, targetFd] = [descriptorOf(client.socket), descriptorOf(target.socket)];
    if (clientFd === undefined || targetFd === undefined) return undefined;
    try {
      return this.plane.add(clientFd, targetFd, joined(client.pending), joined(target.pending));
    } catch {
      // No descriptors left, mostly. The other plane needs none.
      return undefined;
    }
  }

  private readonly onEnded = (
    id: number,
    reason: number,
    _errno: number,
    bytesUp: number,
    bytesDown: number,
  ) => {
    const onEnd = this.sessions.get(id);
    this.sessions.delete(id);
    this.keep();
    onEnd?.({ reason: REASONS[reason] ?? "cut", bytesUp, bytesDown });
  };

  private readonly onHungUp = (watch: number, gone: boolean) => this.watches.get(watch)?.(gone);

  private keep(): void {
    if (this.sessions.size + this.lanes.listening > 0) this.keeper.ref();
    else this.keeper.unref();
  }
}

/** What Node has read and nobody has asked for yet belongs to what is pending. */
function read({ socket, pending }: Leg): Leg {
  return { socket, pending: [...pending, ...drainBuffered(socket)] };
}

function joined(chunks: readonly Buffer[]): Buffer | undefined {
  return chunks.length > 1 ? Buffer.concat(chunks) : chunks[0];
}

/** Nothing where the socket is closed, or has bytes to write that only Node knows of. */
function descriptorOf(socket: Socket): number | undefined {
  if (socket.destroyed || socket.connecting || socket.writableEnded || socket.writableLength > 0)
    return undefined;
  return fdOf(socket);
}
