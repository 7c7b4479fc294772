import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Peer } from "../../support/client.ts";
import { eventually, settled } from "../../support/eventually.ts";
import { proxySettings, type RunningProxy, startProxy, targetSettings } from "../../support/proxy.ts";
import { silent, speaking, TestTarget } from "../../support/target.ts";

const MIB = 1024 * 1024;

let target: TestTarget;
let proxy: RunningProxy;
const peers: Peer[] = [];

beforeEach(async () => {
  target = await TestTarget.start(speaking("B"));
  proxy = await startProxy({ settings: proxySettings([targetSettings(target.port)]) });
});

afterEach(async () => {
  for (const peer of peers.splice(0)) peer.socket.destroy();
  proxy.server.stop();
  await target.stop();
});

async function connect(options: { read?: boolean } = {}): Promise<Peer> {
  const peer = await proxy.connect(options);
  peers.push(peer);
  return peer;
}

/** A spliced session. The first client costs a probe; the target's end of the session is the newest connection. */
async function session(): Promise<{ client: Peer; server: Peer }> {
  const client = await connect();
  expect(await client.text(1)).toBe("B");
  const server = target.peers.at(-1);
  if (!server) throw new Error("nobody came to the target");
  return { client, server };
}

const lastEnd = () => proxy.lines.findLast(({ event }) => event === "connection_ended");

async function hashOf(stream: Readable): Promise<string> {
  const hash = createHash("sha256");
  // An iterator that ends would take the other direction with it.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) hash.update(chunk);
  return hash.digest("hex");
}

describe("a spliced session", () => {
  it("passes the end of the client on and the target may still speak", async () => {
    const { client, server } = await session();
    client.end("question");
    expect(await server.text(8)).toBe("question");
    expect(await server.ended).toBe("end");
    server.end("answer");
    expect(await client.text(6)).toBe("answer");
    expect(await client.ended).toBe("end");
    await eventually(() => proxy.active() === 0);
    expect(lastEnd()).toBeUndefined();
  });

  it("passes the end of the target on and the client may still speak", async () => {
    const { client, server } = await session();
    server.end("goodbye");
    expect(await client.text(7)).toBe("goodbye");
    expect(await client.ended).toBe("end");
    client.end("upload");
    expect(await server.text(6)).toBe("upload");
    expect(await server.ended).toBe("end");
    await eventually(() => proxy.active() === 0);
    expect(lastEnd()).toBeUndefined();
  });

  it("shows the client's reset to the target", async () => {
    const { client, server } = await session();
    client.write("x");
    await server.bytes(1);
    client.reset();
    expect(await server.ended).toBe("ECONNRESET");
    await eventually(() => proxy.active() === 0);
    expect(lastEnd()).toMatchObject({ reason: "client_reset", stage: "spliced", bytesUp: 1, bytesDown: 1 });
  });

  it("shows the target's reset to the client", async () => {
    const { client, server } = await session();
    server.reset();
    expect(await client.ended).toBe("ECONNRESET");
    await eventually(() => proxy.active() === 0);
    expect(lastEnd()).toMatchObject({ reason: "target_reset", stage: "spliced" });
  });

  it("shows a reset as one although bytes still wait for a client that does not read", async () => {
    target.behaviour = ({ socket }) => socket.write(Buffer.alloc(64 * MIB));
    const client = await connect({ read: false });
    await eventually(() => proxy.server.census.spliced === 1);
    await settled(500);
    target.peers.at(-1)?.socket.resetAndDestroy();
    client.socket.resume();
    expect(await client.ended).toBe("ECONNRESET");
    await eventually(() => proxy.active() === 0);
  });

  it("moves random bytes both ways at once, unchanged", async () => {
    const up = randomBytes(48 * MIB);
    const down = randomBytes(48 * MIB);
    let received: Promise<string> | undefined;
    await target.stop();
    target = await TestTarget.start(silent, { read: false });
    target.behaviour = ({ socket }) => {
      socket.end(down);
      received = hashOf(socket);
      // The probe's connection ends at its first byte.
      received.catch(() => {});
    };
    proxy.server.stop();
    proxy = await startProxy({ settings: proxySettings([targetSettings(target.port)]) });
    const client = await connect({ read: false });
    client.socket.end(up);
    const sha = (data: Buffer) => createHash("sha256").update(data).digest("hex");
    expect(await hashOf(client.socket)).toBe(sha(down));
    expect(await received).toBe(sha(up));
    await eventually(() => proxy.active() === 0);
  });

  it("slows a sender down to its reader, in bounded memory", async () => {
    const total = 256 * MIB;
    const block = Buffer.alloc(MIB, 7);
    let offered = 0;
    target.behaviour = ({ socket }) => {
      offered = 0;
      const blocks = Readable.from(
        (function* () {
          for (; offered < total; offered += block.length) yield block;
        })(),
        { highWaterMark: 1 },
      );
      blocks.pipe(socket);
    };
    const before = process.memoryUsage().arrayBuffers;
    const client = await connect({ read: false });
    await eventually(() => proxy.server.census.spliced === 1);
    // What the kernel buffers grows for a while.
    for (let before = -1; before !== offered; await settled(500)) before = offered;
    expect(offered).toBeLessThan(total / 2);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * MIB);

    let bytes = 0;
    client.socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await once(client.socket, "end");
    expect(bytes).toBe(total);
  });

  it("ends both sides when told to", async () => {
    const { client, server } = await session();
    proxy.server.stop();
    expect(await client.ended).toBe("ECONNRESET");
    expect(await server.ended).toBe("ECONNRESET");
  });
});

describe("before the target's first byte", () => {
  it("no byte of the client is passed on, and a mute connection may still win", async () => {
    await target.stop();
    target = await TestTarget.start(speaking("B"));
    proxy.server.stop();
    proxy = await startProxy({
      settings: proxySettings([targetSettings(target.port, { probeWindowMs: 50 })]),
    });
    const first = await session();
    target.behaviour = silent;
    const before = target.peers.length;
    const client = await connect();
    client.write("secret");
    // The client's own connection, and one that looks beside it when it stays mute.
    const own = await target.peer(before);
    await target.peer(before + 1);
    expect(own.bytesReceived).toBe(0);
    own.write("B");
    expect(await client.text(1)).toBe("B");
    expect(await own.text(6)).toBe("secret");
    expect(first.server.bytesReceived).toBe(0);
  });

  it("a connection that belongs to nobody is replaced without the client noticing", async () => {
    proxy.server.stop();
    proxy = await startProxy({
      settings: proxySettings([targetSettings(target.port, { probeWindowMs: 50 })]),
    });
    await session();
    const before = target.peers.length;
    target.behaviour = (peer) => {
      // Whoever comes after the first one is answered.
      silent(peer);
      target.behaviour = speaking("B");
    };
    const client = await connect();
    client.write("once");
    expect(await client.text(1)).toBe("B");
    const lost = await target.peer(before);
    const won = target.peers.at(-1);
    expect(await won?.text(4)).toBe("once");
    expect(await lost.ended).toBe("end");
    expect(lost.bytesReceived).toBe(0);
  });
});
