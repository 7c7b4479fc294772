import { afterEach, describe, expect, it } from "vitest";
import { Scene, STATUS, WAKE } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

let scene: Scene;
let proxy: SceneProxy;

afterEach(() => scene[Symbol.asyncDispose]());

/** The settings have an idle-hold of a minute; the read that a suspend is decided on takes a moment. */
const IDLE_MS = 60_000;
const BOUND_MS = 3_000;

const suspends = () => scene.accepted.filter((write) => write === "suspend").length;

async function expectSuspendAfter(ms: number): Promise<void> {
  const before = suspends();
  await scene.pass(ms - 500, 250);
  expect(suspends()).toBe(before);
  await scene.pass(BOUND_MS, 250);
  expect(suspends()).toBe(before + 1);
}

describe("the idle clock", () => {
  it("counts from the last close, not from the connect", async () => {
    scene = await Scene.open();
    proxy = await scene.proxy();
    const client = await proxy.connect();
    await scene.greeting(client);
    await scene.pass(3 * IDLE_MS, 1_000);
    expect(suspends()).toBe(0);
    client.end();
    await scene.until(() => proxy.health.activeConnections === 0, 1);
    await expectSuspendAfter(IDLE_MS);
  });

  it("is begun anew by every short connection", async () => {
    scene = await Scene.open();
    proxy = await scene.proxy();
    for (let round = 0; round < 10; round++) {
      const client = await proxy.connect();
      expect(await scene.greeting(client)).toBe("G01 2022");
      client.end();
      await scene.until(() => proxy.health.activeConnections === 0, 1);
      if (round < 9) await scene.pass(IDLE_MS / 2, 500);
    }
    expect(scene.accepted).toEqual(["wake"]);
    await expectSuspendAfter(IDLE_MS);
  });

  it("counts from readiness where the clients left during the wake, which still ends in a suspend", async () => {
    scene = await Scene.open({ boot: { ms: 40_000 } });
    proxy = await scene.proxy();
    const client = await proxy.connect();
    await scene.until(() => scene.accepted.length === 1);
    client.reset();
    await scene.until(() => proxy.phase === "awake");
    await expectSuspendAfter(IDLE_MS);
    expect(scene.accepted).toEqual(["wake", "suspend"]);
  });

  it("serves a client that left during the boot and comes back, by the same wake", async () => {
    scene = await Scene.open({ boot: { ms: 8_000 } });
    proxy = await scene.proxy({ settings: { idleHoldMs: 2_000 } });
    const impatient = await proxy.connect();
    await scene.pass(3_000);
    impatient.reset();
    await scene.pass(6_500);
    const back = await proxy.connect();
    const from = scene.clock.now();
    expect(await scene.greeting(back)).toBe("G01 2022");
    // Well within a boot: it is not a second wake.
    expect(scene.clock.now() - from).toBeLessThan(5_000);
    expect(scene.accepted).toEqual(["wake"]);
  });
});

describe("a client that leaves before the un-suspend is accepted", () => {
  it("has it followed to its end all the same", async () => {
    scene = await Scene.open();
    proxy = await scene.proxy();
    const stop = scene.simulator.faults.stopAt(WAKE, "applied");
    const client = await proxy.connect();
    await scene.during(stop.reached);
    client.reset();
    await scene.until(() => proxy.health.held === 0);
    stop.release();
    await scene.until(() => scene.accepted.length === 2, 500);
    expect(scene.accepted).toEqual(["wake", "suspend"]);
  });
});

describe("a proxy that starts", () => {
  it("with an awake target and no clients suspends once, not before its time", async () => {
    scene = await Scene.open({ suspended: false });
    proxy = await scene.proxy();
    await expectSuspendAfter(IDLE_MS);
    await scene.pass(3 * IDLE_MS, 1_000);
    expect(scene.accepted).toEqual(["suspend"]);
  });

  it("waits for as long as the replica before it may still be draining", async () => {
    scene = await Scene.open({ suspended: false });
    proxy = await scene.proxy({ process: { ownGraceMs: 300_000 }, settings: { idleHoldMs: 1_000 } });
    await expectSuspendAfter(315_000);
  });

  it("in place of one that drains, never suspends under that one's sessions", async () => {
    scene = await Scene.open();
    const process = { ownGraceMs: 120_000, drainTimeoutMs: 105_000 };
    const settings = { idleHoldMs: 1_000 };
    const old = await scene.proxy({ process, settings });
    const session = await old.connect();
    await scene.greeting(session);
    proxy = await scene.proxy({ process, settings });
    const drained = old.server.drain.withdraw();
    // A client of the new one comes and goes meanwhile.
    const short = await proxy.connect();
    expect(await scene.greeting(short)).toBe("G01 2022");
    short.end();
    await scene.pass(100_000, 500);
    session.write("still there");
    expect(await scene.during(session.text(11))).toBe("still there");
    expect(suspends()).toBe(0);
    await scene.during(drained);
    await scene.until(() => suspends() === 1, 500);
    expect(scene.accepted).toEqual(["wake", "suspend"]);
  });
});

describe("a target that never becomes ready", () => {
  it("stops costing money half an hour after its un-suspend, whoever came and went", async () => {
    scene = await Scene.open();
    scene.manners.set(2022, "silent");
    proxy = await scene.proxy({ settings: { maxHoldMs: 30_000, wakeTimeoutMs: 20_000 } });
    const from = scene.clock.now();
    const first = await proxy.connect();
    expect(await scene.during(first.ended, 500)).toBe("end");
    await scene.pass(20 * 60_000, 5_000);
    const second = await proxy.connect();
    expect(await scene.during(second.ended, 500)).toBe("end");
    await scene.until(() => suspends() === 1, 1_000);
    expect(proxy.logged("never_ready")).toHaveLength(1);
    expect(scene.clock.now() - from).toBeGreaterThanOrEqual(30 * 60_000);
    expect(scene.clock.now() - from).toBeLessThan(32 * 60_000);
    expect(scene.accepted).toEqual(["wake", "suspend"]);
    // The deployment never said what was wrong: it was not.
    expect(scene.simulator.recorder.matching(STATUS).length).toBeGreaterThan(0);
  });

  it("is looked at while nobody waits, and served as soon as it is", async () => {
    scene = await Scene.open();
    scene.manners.set(2022, "silent");
    proxy = await scene.proxy({ settings: { maxHoldMs: 10_000, wakeTimeoutMs: 20_000 } });
    const first = await proxy.connect();
    await scene.during(first.ended, 500);
    await scene.pass(5 * 60_000, 1_000);
    scene.manners.set(2022, "echo");
    await scene.until(() => proxy.phase === "awake", 500);
    await scene.until(() => suspends() === 1, 500);
  });
});
