import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Lane } from "../../../proxy-image/src/net/lane.ts";
import type { Peer } from "../../support/client.ts";
import { READ, Scene, SUSPEND } from "../../support/lifecycle.ts";
import type { SceneProxy, SceneProxyOptions } from "../../support/lifecycle-proxy.ts";
import { describeNative } from "../../support/native.ts";
import { plane, planeSettled } from "../../support/planes.ts";

let scene: Scene;
let proxy: SceneProxy;
/** Clients that passed by a lane, as far as the proxy has heard. */
let passed: number;

/** A proxy whose target is awake, and that has sent a client there. */
async function warm(options: SceneProxyOptions = {}): Promise<Peer> {
  proxy = await scene.proxy(options);
  const client = await proxy.connect();
  expect(await scene.greeting(client)).toBe("G01 2022");
  await scene.settle();
  return client;
}

beforeEach(async () => {
  passed = 0;
  if (plane.lanes) {
    const { lanes } = plane;
    const take = lanes.take.bind(lanes);
    vi.spyOn(lanes, "take").mockImplementation((...args) => {
      const lane = take(...args);
      return lane && counting(lane);
    });
  }
  scene = await Scene.open();
});

function counting(lane: Lane): Lane {
  const shut = lane.shut.bind(lane);
  lane.shut = () => {
    const news = shut();
    passed += news.joined;
    return news;
  };
  return lane;
}

afterEach(async () => {
  await scene[Symbol.asyncDispose]();
  vi.restoreAllMocks();
});

describeNative("a warm client", () => {
  it("passes without the event loop, and is accounted for as any other", async () => {
    await warm();
    const before = scene.taken.length;
    const clients = await Promise.all(Array.from({ length: 5 }, () => proxy.connect()));
    for (const client of clients) expect(await scene.greeting(client)).toBe("G01 2022");
    await scene.settle();
    expect(passed).toBe(5);
    expect(proxy.health).toMatchObject({ spliced: 6, held: 0, activeConnections: 6 });
    expect(scene.taken.length - before).toBe(5);
    clients[0]?.reset();
    await scene.until(() => proxy.health.spliced === 5);
    await scene.pass(60_000, 1_000);
    expect(proxy.logged("connection_ended")).toMatchObject([{ reason: "client_reset", stage: "spliced" }]);
    expect(proxy.logged("connections")[0]).toMatchObject({ accepted: 6, ended: { client_reset: 1 } });
  });

  it("keeps the target awake however long, and the idle-hold begins when the last one goes", async () => {
    const first = await warm();
    const second = await proxy.connect();
    await scene.greeting(second);
    first.end();
    await scene.pass(600_000, 5_000);
    expect(scene.accepted).toEqual(["wake"]);
    second.end();
    await scene.settle();
    const idleMs = await scene.until(() => scene.accepted.length > 1, 500);
    expect(idleMs).toBeGreaterThanOrEqual(60_000);
    expect(passed).toBe(1);
  });

  it("that comes while the suspend is being decided cancels it, and one that comes after waits", async () => {
    const first = await warm();
    first.end();
    const stop = scene.simulator.faults.stopAt(READ, "received");
    await scene.until(() => proxy.health.spliced === 0);
    await scene.during(stop.reached);
    const client = await proxy.connect();
    await planeSettled();
    stop.release();
    expect(await scene.greeting(client)).toBe("G01 2022");
    await scene.pass(120_000, 1_000);
    expect(scene.accepted).toEqual(["wake"]);
    client.end();
    const suspending = scene.simulator.faults.stopAt(SUSPEND, "received");
    await scene.during(suspending.reached);
    const late = await proxy.connect();
    await scene.settle();
    expect(proxy.health).toMatchObject({ held: 1, spliced: 0 });
    suspending.release();
    expect(await scene.greeting(late)).toBe("G02 2022");
  });

  it("goes the long way once the target's address is old, which brings it anew", async () => {
    await warm();
    await scene.greeting(await proxy.connect());
    await scene.settle();
    expect(passed).toBe(1);
    // The lane is shut at the next step, which comes with the watch.
    await scene.pass(20_000, 1_000);
    await scene.greeting(await proxy.connect());
    await scene.settle();
    expect(passed).toBe(1);
    await scene.greeting(await proxy.connect());
    await scene.settle();
    expect(passed).toBe(2);
  });

  it("is held to the end of its hold by a target that says nothing, and its connection there is its own", async () => {
    await warm({ settings: { maxHoldMs: 20_000 } });
    const before = scene.taken.length;
    scene.manners.set(2022, "silent");
    const client = await proxy.connect();
    const from = scene.clock.now();
    await scene.settle();
    expect(proxy.health).toMatchObject({ held: 1, spliced: 1 });
    expect(scene.taken.length - before).toBe(1);
    await scene.during(client.ended);
    expect(scene.clock.now() - from).toBeLessThanOrEqual(20_100);
    expect(client.bytesReceived).toBe(0);
    expect(passed).toBe(0);
  });

  it("is not lost when the target refuses: it waits for the next generation", async () => {
    const first = await warm();
    await scene.suspend(true);
    await scene.until(() => scene.ready === 0);
    await scene.pass(6_000);
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G02 2022");
    first.end();
  });

  it("is waited for by a drain, and cut when its time is up", async () => {
    await warm({ process: { drainTimeoutMs: 30_000 } });
    const client = await proxy.connect();
    await scene.greeting(client);
    const drained = proxy.server.drain.stop("SIGTERM");
    await scene.settle();
    expect(await (await proxy.connect()).ended).toBe("ECONNREFUSED");
    client.write("still here");
    expect(await client.text(10)).toBe("still here");
    await scene.during(drained);
    expect(proxy.logged("drained")).toMatchObject([{ cut: 2 }]);
    proxy.stop();
    expect(await client.ended).toBe("ECONNRESET");
  });
});
