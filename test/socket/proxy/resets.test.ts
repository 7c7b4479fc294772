import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectPeer, type Peer } from "../../support/client.ts";
import { eventually, settled } from "../../support/eventually.ts";
import {
  MemoryApi,
  proxySettings,
  type RunningProxy,
  startProxy,
  targetSettings,
} from "../../support/proxy.ts";
import { type Behaviour, closing, echoing, resetting, silent, TestTarget } from "../../support/target.ts";

let target: TestTarget;
let proxy: RunningProxy;

const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;

/** Waits until no socket is left but those that were there before. */
async function backTo(baseline: number): Promise<void> {
  await eventually(() => proxy.active() === 0);
  await eventually(() => sockets() <= baseline);
}

beforeEach(async () => {
  target = await TestTarget.start();
});

afterEach(async () => {
  proxy.server.stop();
  await target.stop();
});

const start = async (suspended: boolean, changes: Parameters<typeof targetSettings>[1] = {}) => {
  proxy = await startProxy({
    settings: proxySettings([targetSettings(target.port, { probeWindowMs: 50, ...changes })]),
    api: new MemoryApi({ suspended }),
  });
};

describe("sockets that break", () => {
  it("just after they were accepted", async () => {
    await start(true, { probeWindowMs: 20, wakePollIntervalMs: 300 });
    const baseline = sockets();
    for (let round = 0; round < 20; round++) {
      const clients = await Promise.all(Array.from({ length: 10 }, () => proxy.connect()));
      for (const client of clients) client.reset();
    }
    await backTo(baseline);
    expect(proxy.server.report().targets[0]?.report.held).toBe(0);
  });

  it("while they are connected to a target that resets, closes or is mute", async () => {
    await start(false);
    const baseline = sockets();
    target.behaviour = echoing("B");
    const opener = await proxy.connect();
    await opener.bytes(1);
    for (const behaviour of [resetting, closing, silent]) {
      target.behaviour = behaviour;
      const clients = await Promise.all(Array.from({ length: 20 }, () => proxy.connect()));
      await settled();
      expect(clients.every(({ bytesReceived }) => bytesReceived === 0)).toBe(true);
      for (const [index, client] of clients.entries()) {
        if (index % 2 === 0) client.reset();
        else client.end();
      }
      await eventually(() => proxy.active() === 1);
    }
    target.behaviour = echoing("B");
    const late = await proxy.connect();
    expect(await late.text(1)).toBe("B");
    late.end();
    opener.end();
    await backTo(baseline);
  });

  it("at any moment: hundreds of sessions that end in every manner", async () => {
    await start(false, { earlyBytes: 1000 });
    const baseline = sockets();
    const endings: Behaviour[] = [
      echoing("B"),
      (peer) => {
        peer.write("B");
        peer.reset();
      },
      (peer) => peer.end("B"),
      (peer) => {
        peer.write(Buffer.alloc(300_000));
        setImmediate(() => peer.reset());
      },
    ];
    let turn = 0;
    target.behaviour = (peer) => endings[turn++ % endings.length]?.(peer);
    const manners: ((client: Peer) => void)[] = [
      (client) => client.reset(),
      (client) => client.end(),
      (client) => {
        client.write(Buffer.alloc(200_000));
        setImmediate(() => client.reset());
      },
      (client) => client.end(Buffer.alloc(100_000)),
      (client) => void client.bytes(1).then(() => client.reset()),
      (client) => client.socket.destroy(),
    ];
    const { port } = { port: proxy.server.portOf(2022) };
    for (let round = 0; round < 25; round++) {
      await Promise.all(
        Array.from({ length: 24 }, async (_, index) => {
          const client = await connectPeer(port).catch(() => undefined);
          if (!client) return;
          manners[(index + round) % manners.length]?.(client);
          void client.ended.then(() => client.socket.destroy());
        }),
      );
    }
    await backTo(baseline);
    expect(proxy.lines.filter(({ event }) => event === "internal_error")).toEqual([]);
    const { report } = proxy.server.report().targets[0] ?? {};
    expect([report?.held, report?.spliced]).toEqual([0, 0]);
  });
});
