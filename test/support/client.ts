import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** One end of a TCP connection, as a test sees it: bytes arrive in order, and the end has a manner. */
export class Peer {
  readonly socket: Socket;
  /** How the other side ended: `end` for a FIN, else the error's code. */
  readonly ended: Promise<string>;
  readonly closed: Promise<void>;
  bytesReceived = 0;
  #chunks: Buffer[] = [];
  #buffered = 0;
  #wake: () => void = () => {};
  #over = false;

  /** With `read: false` the test reads from the socket itself, or does not read at all. */
  constructor(socket: Socket, { read = true } = {}) {
    this.socket = socket;
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    this.ended = new Promise((resolve) => {
      socket.once("end", () => resolve("end"));
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      socket.once("close", () => resolve("close"));
    });
    void this.ended.then(() => {
      this.#over = true;
      this.#wake();
    });
    if (read) {
      socket.on("data", (chunk: Buffer) => {
        this.bytesReceived += chunk.length;
        this.#chunks.push(chunk);
        this.#buffered += chunk.length;
        this.#wake();
      });
    }
  }

  /** The next `count` bytes, or as many as came before the end. */
  async bytes(count: number): Promise<Buffer> {
    while (this.#buffered < count && !this.#over) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all.subarray(count)];
    this.#buffered = Math.max(0, all.length - count);
    return all.subarray(0, count);
  }

  async text(count: number): Promise<string> {
    return (await this.bytes(count)).toString("latin1");
  }

  write(data: string | Buffer): void {
    this.socket.write(data);
  }

  /** Sends a FIN after what was written. */
  end(data?: string | Buffer): void {
    if (data === undefined) this.socket.end();
    else this.socket.end(data);
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }
}

export async function connectPeer(
  port: number,
  { host = "127.0.0.1", read = true }: { host?: string; read?: boolean } = {},
): Promise<Peer> {
  const socket = connect({ host, port, allowHalfOpen: true });
  const peer = new Peer(socket, { read });
  // A connection that is reset at once may never have been seen open.
  await Promise.race([once(socket, "connect").catch(() => {}), peer.ended]);
  return peer;
}
