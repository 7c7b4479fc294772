import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Peer } from "./client.ts";

/** What a target does with a connection. */
export type Behaviour = (peer: Peer) => void;

/** Accepts and says nothing, as the mesh does for a suspended workload. */
export const silent: Behaviour = ({ socket }) => void socket.on("end", () => socket.end());
export const closing: Behaviour = (peer) => void peer.socket.end();
export const resetting: Behaviour = (peer) => void peer.reset();
export const speaking =
  (banner: string | Buffer): Behaviour =>
  (peer) =>
    peer.write(banner);
/** Says its banner, then returns every byte, and ends when its client ends. */
export const echoing =
  (banner: string): Behaviour =>
  ({ socket }) => {
    socket.write(banner);
    socket.pipe(socket);
  };

/** A server on a free port of loopback whose behaviour a test can change at any time. */
export class TestTarget {
  readonly port: number;
  readonly server: Server;
  behaviour: Behaviour;
  /** Every connection ever accepted, in order. */
  readonly peers: Peer[] = [];
  #wake: (() => void)[] = [];

  private constructor(server: Server, behaviour: Behaviour, read: boolean) {
    this.server = server;
    this.behaviour = behaviour;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (socket: Socket) => {
      const peer = new Peer(socket, { read });
      this.peers.push(peer);
      this.behaviour(peer);
      for (const wake of this.#wake.splice(0)) wake();
    });
  }

  /** With `read: false` the peers are not read unless a behaviour does it. */
  static async start(behaviour: Behaviour = silent, { read = true } = {}): Promise<TestTarget> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TestTarget(server, behaviour, read);
  }

  /** The connection with this index, as soon as there is one. */
  async peer(index: number): Promise<Peer> {
    for (;;) {
      const peer = this.peers[index];
      if (peer) return peer;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async stop(): Promise<void> {
    for (const { socket } of this.peers) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }
}

/** A port of loopback on which nobody listens. */
export async function deadPort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
