import { createHash, randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Peer } from "../../support/client.ts";
import { eventually, settled } from "../../support/eventually.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import {
  MemoryApi,
  proxySettings,
  type RunningProxy,
  startProxy,
  targetSettings,
} from "../../support/proxy.ts";
import { echoing, silent, TestTarget } from "../../support/target.ts";

let target: TestTarget;
let proxy: RunningProxy;
const peers: Peer[] = [];

/** A proxy whose target is suspended and stays silent until `behaviour` is changed. */
async function start(changes: Parameters<typeof targetSettings>[1] = {}, clock?: ManualClock): Promise<void> {
  proxy = await startProxy({
    settings: proxySettings([targetSettings(target.port, { probeWindowMs: 100, ...changes })]),
    api: new MemoryApi({ suspended: true }),
    ...(clock ? { clock } : {}),
  });
}

async function connect(options: { read?: boolean } = {}): Promise<Peer> {
  const peer = await proxy.connect(options);
  peers.push(peer);
  return peer;
}

const sha256 = (data: Buffer) => createHash("sha256").update(data).digest("hex");

beforeEach(async () => {
  target = await TestTarget.start(silent);
});

afterEach(async () => {
  for (const peer of peers.splice(0)) peer.socket.destroy();
  proxy.server.stop();
  await target.stop();
});

describe("a held client", () => {
  it("is sent nothing until the target speaks", async () => {
    await start();
    const client = await connect();
    await target.peer(1);
    expect(client.bytesReceived).toBe(0);
    target.behaviour = echoing("SSH-2.0\r\n");
    expect(await client.text(9)).toBe("SSH-2.0\r\n");
    client.end("ping");
    expect(await client.text(4)).toBe("ping");
    expect(await client.ended).toBe("end");
    await eventually(() => proxy.active() === 0);
    expect(proxy.api.writes).toEqual([{ suspend: false, version: undefined }]);
  });

  it("is over at once when it ends without a byte", async () => {
    await start();
    const client = await connect();
    await eventually(() => proxy.active() === 1);
    client.end();
    expect(await client.ended).toBe("end");
    await client.closed;
    expect(proxy.active()).toBe(0);
  });

  it("waits on after an end without a byte where the target's clients only listen", async () => {
    await start({ clientFin: "wait" });
    const client = await connect();
    client.end();
    const probe = await target.peer(1);
    expect(proxy.active()).toBe(1);
    target.behaviour = (peer) => peer.end("news of today");
    probe.socket.destroy();
    expect(await client.text(13)).toBe("news of today");
    expect(await client.ended).toBe("end");
    await eventually(() => proxy.active() === 0);
  });

  it("is over at once when it resets, before and after early bytes", async () => {
    await start();
    const first = await connect();
    const second = await connect();
    second.write("hello");
    await eventually(() => proxy.active() === 2);
    await settled();
    first.reset();
    second.reset();
    await eventually(() => proxy.active() === 0);
    const ends = proxy.lines.filter(({ event }) => event === "connection_ended");
    expect(ends.map(({ reason, stage }) => [reason, stage])).toEqual([
      ["client_reset", "waiting"],
      ["client_reset", "waiting"],
    ]);
    expect(ends[0]?.client).toBe("127.0.0.0/24");
  });

  it("that ended after some bytes is a request, and is answered", async () => {
    await start();
    const client = await connect();
    client.end("request");
    await target.peer(1);
    expect(proxy.active()).toBe(1);
    target.behaviour = echoing("B");
    expect(await client.text(8)).toBe("Brequest");
    expect(await client.ended).toBe("end");
    await eventually(() => proxy.active() === 0);
  });

  it("may send far more than is kept: it is slowed down, and nothing is lost or reordered", async () => {
    await start();
    const data = randomBytes(8 * 1024 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    const client = await connect();
    client.end(data);
    await target.peer(2);
    await settled(500);
    // What is not in the kernel is still in the client, that is: in this very process.
    expect(client.socket.writableLength).toBeGreaterThan(1024 * 1024);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * 1024 * 1024);
    target.behaviour = echoing("B");
    const answer = await client.bytes(1 + data.length);
    expect(answer.subarray(0, 1).toString()).toBe("B");
    expect(sha256(answer.subarray(1))).toBe(sha256(data));
    expect(await client.ended).toBe("end");
  });

  it.each(["close", "reset"] as const)("sees a %s when its time is up", async (holdEnd) => {
    const clock = new ManualClock();
    await start({ holdEnd }, clock);
    const quiet = await connect();
    const eager = await connect();
    // More than is kept: an orderly end must not turn into a reset for what lies unread.
    eager.write(Buffer.alloc(200_000));
    await eventually(() => proxy.active() === 2);
    await settled();
    clock.advance(89_999);
    await settled();
    expect(proxy.active()).toBe(2);
    clock.advance(1);
    expect(proxy.active()).toBe(0);
    const manner = holdEnd === "close" ? "end" : "ECONNRESET";
    expect(await quiet.ended).toBe(manner);
    expect(await eager.ended).toBe(manner);
    const ends = proxy.lines.filter(({ event }) => event === "connection_ended");
    expect(ends.map(({ reason }) => reason)).toEqual(["hold_expired", "hold_expired"]);
  });

  it("is let go at once when the platform says that the target can't start", async () => {
    const clock = new ManualClock();
    await start({}, clock);
    const failure = { reason: "image_pull", message: "ErrImagePull" } as const;
    proxy.api.readDeployment = async () => ({
      ok: true,
      value: { lastProcessedVersion: 2, ready: false, failure },
    });
    const client = await connect();
    await eventually(() => {
      clock.advance(50);
      return client.socket.readableEnded;
    });
    expect(await client.ended).toBe("end");
    expect(proxy.lines.find(({ event }) => event === "connection_ended")).toMatchObject({
      reason: "target_failed",
      detail: "image_pull: ErrImagePull",
    });
    expect(proxy.lines.some(({ event }) => event === "target_failed")).toBe(true);
  });

  it("keeps no deadline once it is spliced", async () => {
    const clock = new ManualClock();
    await start({}, clock);
    target.behaviour = echoing("B");
    const client = await connect();
    await eventually(() => {
      clock.advance(10);
      return client.bytesReceived > 0;
    });
    clock.advance(600_000);
    client.write("still there");
    expect(await client.text(12)).toBe("Bstill there");
  });
});
