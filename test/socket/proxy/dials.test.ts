import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Peer } from "../../support/client.ts";
import { eventually, settled } from "../../support/eventually.ts";
import {
  LISTEN,
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

const connect = async (): Promise<Peer> => {
  const peer = await proxy.connect();
  peers.push(peer);
  return peer;
};

beforeEach(async () => {
  target = await TestTarget.start(echoing("B"));
});

afterEach(async () => {
  for (const peer of peers.splice(0)) peer.socket.destroy();
  proxy.server.stop();
  await target.stop();
});

describe("connections to the target", () => {
  it("cost a warm client one, its own", async () => {
    proxy = await startProxy({ settings: proxySettings([targetSettings(target.port)]) });
    await (await connect()).bytes(1);
    const before = target.peers.length;
    const clients = await Promise.all(Array.from({ length: 10 }, connect));
    await Promise.all(clients.map((client) => client.bytes(1)));
    expect(target.peers.length - before).toBe(10);
  });

  it("are made a few at a time, first come first served", async () => {
    proxy = await startProxy({ settings: proxySettings([targetSettings(target.port, { dialLimit: 2 })]) });
    await (await connect()).bytes(1);
    target.behaviour = silent;
    const before = target.peers.length;
    const clients: Peer[] = [];
    for (let n = 0; n < 5; n++) {
      const client = await connect();
      client.write(`${n}`);
      clients.push(client);
      await eventually(() => proxy.server.census.held === n + 1);
    }
    await target.peer(before + 1);
    await settled();
    expect(target.peers.length - before).toBe(2);
    for (let n = 0; n < 5; n++) {
      const peer = await target.peer(before + n);
      peer.write("B");
      expect(await peer.text(1)).toBe(`${n}`);
    }
    expect(target.peers.length - before).toBe(5);
  });

  it("give a place in the queue back when their client leaves", async () => {
    proxy = await startProxy({ settings: proxySettings([targetSettings(target.port, { dialLimit: 1 })]) });
    await (await connect()).bytes(1);
    target.behaviour = silent;
    const before = target.peers.length;
    const [first, second, third] = [await connect(), await connect(), await connect()];
    await target.peer(before);
    third.write("3");
    second.reset();
    await eventually(() => proxy.server.census.held === 2);
    first.reset();
    const peer = await target.peer(before + 1);
    peer.write("B");
    expect(await peer.text(1)).toBe("3");
  });
});

describe("caps", () => {
  it.each([
    ["close", "maxHeld", "end"],
    ["reset", "maxHeld", "ECONNRESET"],
    ["close", "maxHeldTotal", "end"],
  ] as const)("turn away with a %s what exceeds %s", async (holdEnd, cap, manner) => {
    target.behaviour = silent;
    const changes = { [cap]: 3 };
    proxy = await startProxy({
      settings: proxySettings(
        [targetSettings(target.port, { holdEnd, ...(cap === "maxHeld" ? changes : {}) })],
        {
          ...(cap === "maxHeldTotal" ? changes : {}),
        },
      ),
      api: new MemoryApi({ suspended: true }),
    });
    const held: Peer[] = [];
    for (let n = 0; n < 3; n++) held.push(await connect());
    await eventually(() => proxy.server.census.held === 3);
    const refused = await connect();
    expect(await refused.ended).toBe(manner);
    expect(proxy.lines.find(({ event }) => event === "connection_refused")).toMatchObject({ port: LISTEN });
    held[0]?.reset();
    await eventually(() => proxy.server.census.held === 2);
    await connect();
    await eventually(() => proxy.server.census.held === 3);
  });

  it.each(["maxConnections", "maxConnectionsTotal"] as const)("count the spliced too: %s", async (cap) => {
    const changes = { [cap]: 2 };
    proxy = await startProxy({
      settings: proxySettings([targetSettings(target.port, cap === "maxConnections" ? changes : {})], {
        ...(cap === "maxConnectionsTotal" ? changes : {}),
      }),
    });
    for (let n = 0; n < 2; n++) await (await connect()).bytes(1);
    expect(await (await connect()).ended).toBe("end");
    peers[0]?.end();
    await eventually(() => proxy.active() === 1);
    expect(await (await connect()).text(1)).toBe("B");
  });
});
