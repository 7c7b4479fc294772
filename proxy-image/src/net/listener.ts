import { createServer, type Server, type Socket } from "node:net";
import type { Lane } from "./lane";
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
  private lane: Lane | undefined;

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

  /**
   * Gives the port away, where somebody can take it: its clients come by the lane from then on. Bound here all the same,
   * so that there is one way to bind, and one to fail at it.
   */
  giveTo(take: (server: Server) => Lane | undefined): Lane | undefined {
    this.lane = take(this.server);
    if (this.lane) this.server.close();
    return this.lane;
  }

  /** No new clients; those that are there stay. */
  close(): void {
    if (this.lane) this.lane.close();
    else this.server.close();
  }
}
