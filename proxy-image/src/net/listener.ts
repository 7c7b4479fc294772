import { createServer, type Server, type Socket } from "node:net";
import { listen } from "./listen";
import { HIGH_WATER_MARK, harmless, KEEPALIVE_MS } from "./sockets";

const BACKLOG = 4096;

export interface ListenerOptions {
  host: string;
  port: number;
  /** The socket is paused: nothing is read before somebody asks. */
  onClient: (socket: Socket) => void;
  /** The listener itself has trouble, such as no descriptors left. It goes on listening. */
  onTrouble: (error: NodeJS.ErrnoException) => void;
}

/** One port that clients connect to. */
export class Listener {
  readonly port: number;
  private readonly server: Server;

  private constructor(server: Server) {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("not a TCP listener");
    this.server = server;
    this.port = address.port;
  }

  static async open(options: ListenerOptions): Promise<Listener> {
    const server = createServer({
      allowHalfOpen: true,
      pauseOnConnect: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEPALIVE_MS,
      highWaterMark: HIGH_WATER_MARK,
    });
    // libuv sheds the connections that find no descriptor and keeps the listener; all there is to do is to say so.
    server.on("error", options.onTrouble);
    server.on("connection", (socket) => options.onClient(harmless(socket)));
    await listen(server, options.host, options.port, BACKLOG);
    return new Listener(server);
  }

  /** No new clients; those that are there stay. */
  close(): void {
    this.server.close();
  }
}
