import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { Scene, WAKE } from "../../support/lifecycle.ts";

let scene: Scene;

afterEach(() => scene[Symbol.asyncDispose]());

describe("a held client whose target does not come in time", () => {
  it.each([
    ["close", "end"],
    ["reset", "ECONNRESET"],
  ] as const)("is let go at its own MAX_HOLD, as HOLD_END=%s says", async (holdEnd, seen) => {
    scene = await Scene.open({ boot: { ms: 60_000 } });
    const proxy = await scene.proxy({ settings: { maxHoldMs: 20_000, holdEnd } });
    const first = await proxy.connect();
    await scene.pass(10_000);
    const second = await proxy.connect();
    const from = scene.clock.now();
    expect(await scene.during(first.ended)).toBe(seen);
    expect(scene.clock.now() - from).toBeGreaterThanOrEqual(9_900);
    expect(scene.clock.now() - from).toBeLessThan(11_000);
    expect(proxy.health.held).toBe(1);
    expect(await scene.during(second.ended)).toBe(seen);
    expect(proxy.logged("connection_ended")).toMatchObject([
      { reason: "hold_expired", stage: "waiting" },
      { reason: "hold_expired", stage: "waiting" },
    ]);
    expect(scene.accepted).toEqual(["wake"]);
  });

  it("has a deadline that ends at the splice", async () => {
    scene = await Scene.open({ boot: { ms: 1_000 } });
    const proxy = await scene.proxy({ settings: { maxHoldMs: 3_000 } });
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
    for (let second = 0; second < 10; second++) {
      await scene.pass(1_000);
      client.write("x");
      expect(await scene.during(client.text(1))).toBe("x");
    }
  });

  it("outlives a wake attempt: the next one follows, without another un-suspend", async () => {
    scene = await Scene.open({ boot: { ms: 50_000 } });
    const proxy = await scene.proxy({ settings: { wakeTimeoutMs: 10_000 } });
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
    expect(proxy.logged("wake_timeout").length).toBeGreaterThan(1);
    expect(scene.accepted).toEqual(["wake"]);
  });
});

describe("a wake that takes nearly as long as clients are held", () => {
  it("is warned about, and by /healthz until one has been quick", async () => {
    scene = await Scene.open({ boot: { ms: 17_000 }, api: { deploymentReadable: "view" } });
    const proxy = await scene.proxy({ settings: { maxHoldMs: 20_000, wakeTimeoutMs: 7_000 } });
    const slow = await proxy.connect();
    expect(await scene.greeting(slow)).toBe("G01 2022");
    const [line, ...more] = proxy.logged("wake_near_max_hold");
    expect(line).toMatchObject({ level: "warn", maxHoldMs: 20_000, target: expect.stringContaining("sftp") });
    expect(line?.tookMs).toBeGreaterThanOrEqual(17_000);
    expect(line?.tookMs).toBeLessThan(20_000);
    expect(more).toEqual([]);
    expect(proxy.condition("wake_near_max_hold")?.reason).toContain("of 20000 ms");

    slow.end();
    await scene.until(() => scene.suspended);
    scene.simulator.platform.setBoot(scene.target, { ms: 1_000 });
    const quick = await proxy.connect();
    expect(await scene.greeting(quick)).toBe("G02 2022");
    expect(proxy.condition("wake_near_max_hold")).toBeUndefined();
    expect(proxy.logged("wake_near_max_hold")).toHaveLength(1);
  });

  it("is warned about when it was longer, and nobody is left to be served", async () => {
    scene = await Scene.open({ boot: { ms: 30_000 } });
    const proxy = await scene.proxy({ settings: { maxHoldMs: 20_000 } });
    const client = await proxy.connect();
    await scene.during(client.ended);
    await scene.until(() => proxy.logged("ready").length > 0);
    expect(proxy.logged("wake_near_max_hold")).toMatchObject([{ maxHoldMs: 20_000 }]);
  });

  it("says nothing where its client left of its own: it is probed seldom from then on", async () => {
    scene = await Scene.open({ boot: { ms: 18_000 } });
    const proxy = await scene.proxy({ settings: { maxHoldMs: 20_000 } });
    const client = await proxy.connect();
    await scene.until(() => scene.accepted.length > 0);
    client.reset();
    await scene.until(() => proxy.logged("ready").length > 0);
    expect(proxy.logged("wake_near_max_hold")).toEqual([]);
  });
});

describe("a held client that leaves", () => {
  it("by a reset, is gone within a second", async () => {
    scene = await Scene.open({ boot: { ms: 60_000 } });
    const proxy = await scene.proxy();
    const client = await proxy.connect();
    client.write("early");
    await scene.until(() => proxy.health.held === 1);
    client.reset();
    expect(await scene.until(() => proxy.health.held === 0, 10)).toBeLessThan(1_000);
    expect(proxy.logged("connection_ended")).toMatchObject([{ reason: "client_reset", stage: "waiting" }]);
  });

  it("by a FIN without a byte, is answered by one at once", async () => {
    scene = await Scene.open({ boot: { ms: 60_000 } });
    const proxy = await scene.proxy();
    const client = await proxy.connect();
    await scene.until(() => proxy.health.held === 1);
    client.end();
    expect(await scene.during(client.ended)).toBe("end");
    expect(proxy.health.held).toBe(0);
    expect(proxy.logged("connection_ended")).toEqual([]);
  });
});

describe("early bytes", () => {
  it("followed by a FIN are a request: every byte is answered, in order, whatever their size", async () => {
    scene = await Scene.open({ boot: { ms: 5_000 } });
    const proxy = await scene.proxy();
    const client = await proxy.connect();
    const sent = randomBytes(4 * 1024 * 1024);
    client.end(sent);
    await scene.pass(3_000);
    expect(proxy.health.held).toBe(1);
    expect(await scene.greeting(client)).toBe("G01 2022");
    expect((await scene.during(client.bytes(sent.length))).equals(sent)).toBe(true);
    expect(await scene.during(client.ended)).toBe("end");
  });

  it("reach no generation but the one that answered: a mute connection has been sent none", async () => {
    scene = await Scene.open({ boot: { ms: 5_000 } });
    const proxy = await scene.proxy();
    const client = await proxy.connect();
    client.write("hello");
    await scene.greeting(client);
    expect(await scene.during(client.text(5))).toBe("hello");
    expect(scene.connections.filter(({ bytesIn }) => bytesIn > 0)).toHaveLength(1);
  });
});

describe("a held client while the un-suspend is stopped", () => {
  it.each(["received", "applied", "answered"] as const)(
    "at %s, waits; and is served when it goes on",
    async (point) => {
      scene = await Scene.open({ boot: { ms: 1_000 } });
      const proxy = await scene.proxy();
      const stop = scene.simulator.faults.stopAt(WAKE, point);
      const client = await proxy.connect();
      await scene.during(stop.reached);
      const second = await proxy.connect();
      await scene.pass(1_000);
      stop.release();
      expect(await scene.greeting(client)).toBe("G01 2022");
      expect(await scene.greeting(second)).toBe("G01 2022");
      expect(scene.accepted).toEqual(["wake"]);
    },
  );

  it("that is never answered, is served because it was applied", async () => {
    scene = await Scene.open({ boot: { ms: 1_000 } });
    const proxy = await scene.proxy();
    const stop = scene.simulator.faults.stopAt(WAKE, "applied");
    const client = await proxy.connect();
    await scene.during(stop.reached);
    expect(await scene.greeting(client)).toBe("G01 2022");
    await scene.pass(30_000);
    expect(proxy.health.spliced).toBe(1);
    stop.release();
  });
});
