import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EarlyBudget } from "../../../proxy-image/src/net/early-budget.ts";
import { type HeldEnd, HeldSocket } from "../../../proxy-image/src/net/held.ts";
import { Listener } from "../../../proxy-image/src/net/listener.ts";
import { connectPeer, type Peer } from "../../support/client.ts";
import { eventually, settled } from "../../support/eventually.ts";
import { plane } from "../../support/planes.ts";

const CHUNK = 64 * 1024;

let listener: Listener;
let accepted: Socket[];
const peers: Peer[] = [];

beforeEach(async () => {
  accepted = [];
  listener = await Listener.open({
    host: "127.0.0.1",
    port: 0,
    onClient: (socket) => accepted.push(socket),
    onTrouble: () => {},
  });
});

afterEach(() => {
  for (const peer of peers.splice(0)) peer.socket.destroy();
  for (const socket of accepted) socket.destroy();
  listener.close();
});

async function hold(budget: EarlyBudget, earlyBytes = 16_384) {
  const peer = await connectPeer(listener.port);
  peers.push(peer);
  await eventually(() => accepted.length === peers.length);
  const socket = accepted.at(-1);
  if (!socket) throw new Error("nobody was accepted");
  const ends: HeldEnd[] = [];
  return {
    peer,
    socket,
    ends,
    held: new HeldSocket(socket, {
      earlyBytes,
      clientFin: "leave",
      budget,
      plane,
      onEnd: (end) => ends.push(end),
    }),
  };
}

describe("early bytes", () => {
  it("of one client are bounded by its limit and one read", async () => {
    const budget = new EarlyBudget(1_000_000);
    const { peer, held } = await hold(budget);
    peer.write(Buffer.alloc(8 * 1024 * 1024));
    await settled(200);
    expect(budget.bytes).toBeGreaterThan(0);
    expect(budget.bytes).toBeLessThanOrEqual(16_384 + CHUNK);
    held.stop();
    expect(budget.bytes).toBe(0);
  });

  it("of all clients are bounded together: past it a client is left unread", async () => {
    const budget = new EarlyBudget(100_000);
    const holds = [];
    for (let n = 0; n < 10; n++) {
      const held = await hold(budget);
      held.peer.write(Buffer.alloc(CHUNK * 2));
      holds.push(held);
      await settled();
    }
    expect(budget.bytes).toBeLessThanOrEqual(100_000 + CHUNK);
    for (const { held } of holds) held.stop();
    expect(budget.bytes).toBe(0);
  });

  it("are handed over in order, with what is still in the stream", async () => {
    const budget = new EarlyBudget(1_000_000);
    const { peer, socket, held } = await hold(budget, 10);
    peer.write("1234");
    await eventually(() => budget.bytes === 4);
    peer.write("5678");
    await eventually(() => budget.bytes === 8);
    peer.end("90ab");
    await eventually(() => budget.bytes === 12);
    expect(Buffer.concat(held.release()).toString()).toBe("1234567890ab");
    socket.resume();
    await once(socket, "end");
  });

  it("of none: nothing is read where nothing may be kept", async () => {
    const { peer, socket, ends, held } = await hold(new EarlyBudget(1_000_000), 0);
    peer.write("hello");
    await settled();
    expect(socket.bytesRead).toBe(0);
    expect(Buffer.concat(held.release()).toString()).toBe("");
    expect(ends).toEqual([]);
  });
});

/** Only the native plane watches what it does not read; on the other there is nothing to show. */
const whereWatched = plane.watch ? describe : () => {};

whereWatched("a held client that is left unread", () => {
  it("is seen to be gone, and waits on where it has only ended its side", async () => {
    const { peer, ends } = await hold(new EarlyBudget(1_000_000));
    peer.write(Buffer.alloc(10 * CHUNK));
    peer.end();
    await settled(200);
    expect(ends).toEqual([]);
    peer.reset();
    await eventually(() => ends.length === 1);
    expect(ends).toEqual(["client_reset"]);
  });

  it("is seen to leave although nothing of it may be kept", async () => {
    const { peer, ends } = await hold(new EarlyBudget(1_000_000), 0);
    peer.end();
    await eventually(() => ends.length === 1);
    expect(ends).toEqual(["client_left"]);
  });

  it("waits on with a request that may not be kept", async () => {
    const { peer, socket, ends, held } = await hold(new EarlyBudget(1_000_000), 0);
    peer.end("request");
    await eventually(() => socket.readableLength > 0);
    await settled(100);
    expect(ends).toEqual([]);
    expect(Buffer.concat(held.release()).toString()).toBe("request");
  });
});
