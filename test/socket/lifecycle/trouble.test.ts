import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ANY, READ, Scene, SUSPEND, WAKE } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

let scene: Scene;
let proxy: SceneProxy;

beforeEach(async () => {
  scene = await Scene.open({ boot: { ms: 1_000 } });
});

afterEach(() => scene[Symbol.asyncDispose]());

const faults = () => scene.simulator.faults;

/** The proxies' calls since then. */
function callsSince(at: number): number {
  return scene.simulator.recorder.matching(ANY).filter((call) => call.at >= at).length;
}

/** Ways in which the un-suspend goes wrong, what health calls it, and the longest wait before a try with a client held. */
const TROUBLES: [string, (times?: number) => void, string][] = [
  ["500", () => faults().fail(WAKE, { status: 500 }), "server"],
  ["503 after it was applied", () => faults().fail(WAKE, { status: 503, at: "applied" }), "server"],
  ["429", () => faults().rateLimit(WAKE), "throttled"],
  ["a reset", () => faults().reset(WAKE), "broken"],
  ["401", () => faults().fail(WAKE, { status: 401, message: "bad token" }), "denied"],
  ["403", () => faults().fail(WAKE, { status: 403, message: "edit is not granted" }), "denied"],
  ["400", () => faults().fail(WAKE, { status: 400 }), "invalid"],
];

describe("an un-suspend that fails by", () => {
  it.each(TROUBLES)(
    "%s is tried again, no more than 8 s apart, while the client is held; then it works",
    async (_how, begin, kind) => {
      proxy = await scene.proxy({ settings: { maxHoldMs: 120_000 } });
      begin();
      const client = await proxy.connect();
      await scene.until(() => proxy.condition("writes_failing") !== undefined);
      const condition = proxy.condition("writes_failing");
      expect(condition?.reason).toMatch(new RegExp(`^${kind}: `));
      expect(Date.parse(condition?.since ?? "")).toBeLessThanOrEqual(scene.clock.now());
      expect(Date.parse(condition?.nextTryAt ?? "")).toBeGreaterThan(scene.clock.now());
      if (kind !== "server") {
        await scene.pass(40_000);
        expect(proxy.health).toMatchObject({ held: 1, activeConnections: 1 });
      }
      const writes = scene.simulator.recorder.matching(WAKE).map(({ at }) => at);
      const gaps = writes.slice(1).map((at, index) => at - (writes[index] ?? 0));
      expect(Math.max(0, ...gaps)).toBeLessThanOrEqual(8_200);
      faults().clear();
      const from = scene.clock.now();
      expect(await scene.greeting(client)).toBe("G01 2022");
      expect(scene.clock.now() - from).toBeLessThan(8_000 + 3_000);
      await scene.pass(5_000);
      expect(proxy.condition("writes_failing")).toBeUndefined();
      expect(proxy.logged("internal_error")).toEqual([]);
    },
  );

  it("a call without an answer is given up after 10 s, and tried again", async () => {
    proxy = await scene.proxy();
    const stop = faults().stopAt(WAKE, "received");
    const client = await proxy.connect();
    await scene.during(stop.reached);
    await scene.until(() => proxy.condition("writes_failing") !== undefined);
    expect(proxy.condition("writes_failing")?.reason).toMatch(/^timeout: /);
    expect(await scene.greeting(client)).toBe("G01 2022");
    stop.release();
  });

  it("429 with Retry-After is left alone for that long, and no longer than a minute", async () => {
    proxy = await scene.proxy({ settings: { maxHoldMs: 300_000 } });
    faults().rateLimit(WAKE, { retryAfterSeconds: 20, times: 1 });
    const client = await proxy.connect();
    await scene.until(() => scene.writes.length === 1);
    faults().rateLimit(WAKE, { retryAfterSeconds: 3_600, times: 1 });
    await scene.greeting(client);
    const [first = 0, second = 0, third = 0] = scene.simulator.recorder.matching(WAKE).map(({ at }) => at);
    expect(second - first).toBeGreaterThanOrEqual(20_000);
    expect(second - first).toBeLessThan(22_000);
    expect(third - second).toBeGreaterThanOrEqual(60_000);
    expect(third - second).toBeLessThan(62_000);
  });

  it("a quota ends the hold with that reason, and is asked again a minute later at the earliest", async () => {
    proxy = await scene.proxy({ settings: { maxHoldMs: 300_000 } });
    faults().quota(WAKE, { times: 1 });
    const client = await proxy.connect();
    expect(await scene.during(client.ended)).toBe("end");
    expect(proxy.logged("target_failed")).toMatchObject([{ reason: "quota" }]);
    expect(proxy.condition("target_failing")?.reason).toMatch(/^quota: .*quota/);
    const told = await proxy.connect();
    expect(await scene.during(told.ended)).toBe("end");
    expect(scene.writes).toHaveLength(1);
    await scene.pass(75_000, 500);
    const served = await proxy.connect();
    expect(await scene.greeting(served)).toBe("G01 2022");
  });
});

describe("a target that the platform does not know", () => {
  it("is asked for now and then; its client is held, and served once the target is there", async () => {
    await scene.call("DELETE", scene.path);
    proxy = await scene.proxy({ settings: { maxHoldMs: 60_000 } });
    await scene.until(() => proxy.condition("reads_failing") !== undefined);
    expect(proxy.condition("reads_failing")?.reason).toMatch(/^missing: HTTP 404/);
    const early = await proxy.connect();
    expect(await scene.during(early.ended, 250)).toBe("end");
    const client = await proxy.connect();
    await scene.pass(20_000);
    expect(scene.writes).toEqual([]);
    expect(scene.reads.length).toBeLessThan(20);
    await scene.create();
    expect(await scene.greeting(client)).toBe("G01 2022");
    expect(scene.accepted).toEqual(["wake"]);
  });
});

describe("a storm of clients on an API that refuses", () => {
  it("costs a few calls, and the first client after the fix is served", async () => {
    proxy = await scene.proxy();
    faults().fail(WAKE, { status: 403, message: "edit is not granted" });
    const from = scene.clock.now();
    for (let round = 0; round < 50; round++) {
      const client = await proxy.connect();
      await scene.pass(200);
      client.reset();
    }
    // Either header form counts.
    expect(scene.simulator.recorder.matching(WAKE).length).toBeLessThanOrEqual(6);
    expect(callsSince(from)).toBeLessThanOrEqual(20);
    expect(proxy.health.targets[0]?.conditions).toMatchObject([{ type: "writes_failing" }]);
    faults().clear();
    const client = await proxy.connect();
    const fixed = scene.clock.now();
    expect(await scene.greeting(client)).toBe("G01 2022");
    // One pause between tries, the boot, and a proof that no status helps with.
    expect(scene.clock.now() - fixed).toBeLessThan(8_000 + 1_000 + 5_000);
  });
});

describe("an API that can't be reached", () => {
  it.each(["refuse", "reset", "silent", 503] as const)(
    "(%s) holds clients, is asked once in 30 s with nobody held, and serves them when it is back",
    async (outage) => {
      proxy = await scene.proxy({ settings: { maxHoldMs: 90_000 } });
      await scene.simulator.down(outage);
      await scene.until(() => proxy.condition("reads_failing") !== undefined, 1_000);
      const from = scene.clock.now();
      const seen = proxy.logged("read_failed").length;
      await scene.pass(300_000, 1_000);
      const asked = proxy.logged("read_failed").length - seen;
      expect(asked).toBeGreaterThanOrEqual(6);
      expect(asked).toBeLessThanOrEqual(11);
      const condition = proxy.condition("reads_failing");
      expect(Date.parse(condition?.since ?? "")).toBeLessThanOrEqual(from);
      const client = await proxy.connect();
      await scene.pass(45_000);
      expect(proxy.health.held).toBe(1);
      await scene.simulator.up();
      const back = scene.clock.now();
      expect(await scene.greeting(client)).toBe("G01 2022");
      expect(scene.clock.now() - back).toBeLessThan(22_000);
      await scene.pass(60_000, 500);
      expect(proxy.health.targets[0]?.conditions).toEqual([]);
      expect(proxy.logged("api_recovered").length).toBeGreaterThan(0);
    },
  );

  it("is noticed by no live session, fails no readiness, and suspends nothing", async () => {
    proxy = await scene.proxy();
    const client = await proxy.connect();
    await scene.greeting(client);
    for (const outage of ["refuse", "silent", 503, "reset"] as const) {
      await scene.simulator.down(outage);
      await scene.pass(60_000, 500);
      client.write("x");
      expect(await scene.during(client.text(1))).toBe("x");
      const warm = await proxy.connect();
      expect(await scene.greeting(warm)).toBe("G01 2022");
      warm.end();
      expect(proxy.server.ready).toBe(true);
    }
    await scene.simulator.up();
    expect(scene.accepted).toEqual(["wake"]);
  });
});

describe("a suspend that fails", () => {
  it.each([
    ["500", () => faults().fail(SUSPEND, { status: 500, times: 2 })],
    ["429", () => faults().rateLimit(SUSPEND, { retryAfterSeconds: 2, times: 2 })],
    ["403", () => faults().fail(SUSPEND, { status: 403, times: 4 })],
    ["409", () => faults().fail(SUSPEND, { status: 409, times: 2 })],
    ["a reset", () => faults().reset(SUSPEND, { times: 2 })],
    ["a reset after it was applied", () => faults().reset(SUSPEND, { at: "applied", times: 1 })],
  ])("by %s is tried again until the target is suspended", async (_how, begin) => {
    proxy = await scene.proxy();
    const client = await proxy.connect();
    await scene.greeting(client);
    client.end();
    begin();
    await scene.until(() => scene.suspended, 250);
    await scene.until(() => proxy.phase === "suspended", 250);
    expect(scene.clock.now()).toBeGreaterThan(0);
    const next = await proxy.connect();
    expect(await scene.greeting(next)).toBe("G02 2022");
  });

  it("is cancelled by a client that comes before its next try", async () => {
    proxy = await scene.proxy();
    const first = await proxy.connect();
    await scene.greeting(first);
    first.end();
    faults().rateLimit(SUSPEND, { retryAfterSeconds: 30, times: 1 });
    await scene.until(() => proxy.condition("writes_failing") !== undefined, 250);
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
    await scene.pass(120_000, 1_000);
    expect(scene.accepted).toEqual(["wake"]);
    expect(scene.writes).toHaveLength(2);
  });
});

describe("a read that fails", () => {
  it("for a time, delays the suspend and nothing else", async () => {
    proxy = await scene.proxy();
    const client = await proxy.connect();
    await scene.greeting(client);
    client.end();
    faults().fail(READ, { status: 500 });
    await scene.pass(300_000, 1_000);
    expect(scene.accepted).toEqual(["wake"]);
    faults().clear();
    await scene.until(() => scene.suspended, 250);
    expect(scene.accepted).toEqual(["wake", "suspend"]);
  });
});
