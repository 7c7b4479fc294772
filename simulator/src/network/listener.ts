import net from "node:net";
import { deferred } from "../platform/deferred.ts";

/** A TCP server that can be closed and opened again on the same port, and forgets no socket. */
export class Listener {
  readonly address: string;
  readonly sockets = new Set<net.Socket>();
  port: number;
  readonly #onConnection: (socket: net.Socket) => void;
  #server: net.Server | undefined;
  #wanted = false;
  /** Opening and closing follow each other, whatever the order of calls. */
  #work: Promise<void> = Promise.resolve();

  constructor(address: string, port: number, onConnection: (socket: net.Socket) => void) {
    this.address = address;
    this.port = port;
    this.#onConnection = onConnection;
  }

  /** Settles when the port is open, or with the reason why it cannot be. */
  open(): Promise<void> {
    this.#wanted = true;
    return this.#settle();
  }

  /** No new connections; those that exist go on. */
  close(): Promise<void> {
    this.#wanted = false;
    return this.#settle();
  }

  async dispose(): Promise<void> {
    const closed = this.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  #settle(): Promise<void> {
    const work = this.#work.then(async () => {
      if (this.#wanted && this.#server === undefined) this.#server = await this.#listen();
      if (!this.#wanted && this.#server !== undefined) {
        this.#server.close();
        this.#server = undefined;
      }
    });
    this.#work = work.catch(() => {});
    return work;
  }

  async #listen(): Promise<net.Server> {
    const server = net.createServer(
      { allowHalfOpen: true, pauseOnConnect: true, noDelay: true },
      (socket) => {
        this.sockets.add(socket);
        // Every user of the socket adds its own; this one only keeps an early reset from being nobody's.
        socket.on("error", () => {});
        socket.on("close", () => this.sockets.delete(socket));
        this.#onConnection(socket);
      },
    );
    const listening = deferred<void>();
    server.once("error", listening.reject);
    server.listen({ host: this.address, port: this.port, backlog: 1024 }, listening.resolve);
    await listening.promise;
    const bound = server.address();
    if (bound !== null && typeof bound === "object") this.port = bound.port;
    return server;
  }
}
