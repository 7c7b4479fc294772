import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer, type Server, Socket } from "node:net";
import { describe } from "vitest";
import { JsPlane } from "../../proxy-image/src/net/js-plane.ts";
import { type NativeOptions, NativePlane } from "../../proxy-image/src/net/native-plane.ts";
import type { Plane, Splice, SpliceEnd } from "../../proxy-image/src/net/plane.ts";
import { addonFile, buildNative, whyNotNative } from "../../tools/native.ts";
import { Peer } from "./client.ts";

const whyNot = await whyNotNative();
if (whyNot === undefined) await buildNative();
else if (process.env.REQUIRE_REAL_PEERS === "1") throw new Error(`no native plane: ${whyNot}`);

/** `describe` where there is a native plane, and why there is none in the name of what is skipped where not. */
export function describeNative(name: string, tests: () => void): void {
  if (whyNot === undefined) describe(name, tests);
  else describe.skip(`${name} (${whyNot})`, tests);
}

export const openNativePlane = (options: NativeOptions = {}) =>
  new NativePlane(addonFile, new JsPlane({ stallMs: 3_600_000, halfCloseMs: 3_600_000 }), options);

/** The addon as it is, without the proxy's adapter. */
export const loadAddon = () => createRequire(addonFile)(addonFile);

/** Two connections to this process, not spliced yet: `client` and `target` are what a proxy would hold of them. */
export interface Legs {
  client: Socket;
  target: Socket;
  atClient: Peer;
  atTarget: Peer;
}

/** Makes connections of which nothing was read on the proxy's side. */
export class Switchboard {
  readonly #clients: Server;
  readonly #targets: Server;
  readonly #sockets: Socket[] = [];
  readonly #waiting: Socket[] = [];

  private constructor(clients: Server, targets: Server) {
    this.#clients = clients;
    this.#targets = targets;
    for (const server of [clients, targets]) server.on("connection", (socket) => this.#waiting.push(socket));
  }

  static async open(): Promise<Switchboard> {
    const servers = [true, false].map((pauseOnConnect) =>
      createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect, highWaterMark: 1 }),
    );
    const [clients, targets] = await Promise.all(
      servers.map(async (server) => {
        server.listen(0, "127.0.0.1");
        await once(server, "listening");
        return server;
      }),
    );
    if (!clients || !targets) throw new Error("no servers");
    return new Switchboard(clients, targets);
  }

  /** With `read: false` the far ends are not read unless the test does it. */
  async legs({ read = true } = {}): Promise<Legs> {
    const [client, atClient] = await this.#connect(this.#clients, read, true);
    const [atTarget, target] = await this.#connect(this.#targets, read, false);
    return { client, target, atClient, atTarget };
  }

  /** One connection: its accepted and its dialled side. The proxy's is a bare socket, the other one a peer. */
  async #connect(server: Server, read: boolean, accepts: true): Promise<[Socket, Peer]>;
  async #connect(server: Server, read: boolean, accepts: false): Promise<[Peer, Socket]>;
  async #connect(server: Server, read: boolean, accepts: boolean): Promise<[Socket | Peer, Socket | Peer]> {
    const dialled = new Socket({ allowHalfOpen: true }).setNoDelay();
    dialled.pause();
    dialled.connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
    await once(dialled, "connect");
    const socket = await this.#accepted(server, dialled.localPort);
    const [ours, theirs] = accepts ? [socket, dialled] : [dialled, socket];
    const peer = new Peer(theirs, { read });
    if (read) theirs.resume();
    this.#sockets.push(
      theirs,
      ours.on("error", () => {}),
    );
    return accepts ? [ours, peer] : [peer, ours];
  }

  /** Several connections can be on their way at once: the port tells which is whose. */
  async #accepted(server: Server, port: number | undefined): Promise<Socket> {
    for (;;) {
      const socket = this.#waiting.find(({ remotePort }) => remotePort === port);
      if (socket !== undefined) {
        this.#waiting.splice(this.#waiting.indexOf(socket), 1);
        return socket;
      }
      await once(server, "connection");
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const server of [this.#clients, this.#targets]) {
      server.close();
      await once(server, "close");
    }
  }
}

/** A spliced session, and its end. */
export function spliced(plane: Plane, { client, target }: Legs): { splice: Splice; end: Promise<SpliceEnd> } {
  let splice: Splice | undefined;
  const end = new Promise<SpliceEnd>((resolve) => {
    splice = plane.splice({ socket: client, pending: [] }, { socket: target, pending: [] }, resolve);
  });
  if (!splice) throw new Error("not spliced");
  return { splice, end };
}
