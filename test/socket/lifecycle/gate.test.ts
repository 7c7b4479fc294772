import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Scene, SUSPEND, WAKE } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

let scene: Scene;
let proxy: SceneProxy;

/** An awake target that its last client has just left: the next thing to happen is the suspend. */
beforeEach(async () => {
  scene = await Scene.open({ boot: { ms: 2_000 } });
  proxy = await scene.proxy();
  const client = await proxy.connect();
  expect(await scene.greeting(client)).toBe("G01 2022");
  client.end();
  await scene.until(() => proxy.health.activeConnections === 0);
  expect(scene.accepted).toEqual(["wake"]);
});

afterEach(() => scene[Symbol.asyncDispose]());

/** The client is served by the second generation, by one un-suspend, and stays connected. */
async function servedByTheNext(client: Awaited<ReturnType<SceneProxy["connect"]>>) {
  expect(await scene.greeting(client)).toBe("G02 2022");
  expect(scene.accepted).toEqual(["wake", "suspend", "wake"]);
  client.write("still there");
  expect(await scene.during(client.text(11))).toBe("still there");
  await scene.pass(300_000, 1_000);
  expect(scene.accepted).toEqual(["wake", "suspend", "wake"]);
  expect(proxy.health.spliced).toBe(1);
}

describe("a client that comes around the proxy's own suspend", () => {
  it("while the decision's read is under way, is served at once and nothing is suspended", async () => {
    const read = scene.simulator.faults.stopAt({ method: "GET", path: scene.path }, "received");
    await scene.pass(61_000);
    expect(read.held).toHaveLength(1);
    const client = await proxy.connect();
    read.release();
    expect(await scene.greeting(client)).toBe("G01 2022");
    await scene.pass(120_000, 1_000);
    expect(scene.accepted).toEqual(["wake"]);
    client.end();
    await scene.until(() => scene.accepted.length === 2);
    expect(scene.accepted).toEqual(["wake", "suspend"]);
  });

  it.each(["received", "applied"] as const)(
    "while the suspend is %s, is held and then served by the next generation",
    async (point) => {
      const stop = scene.simulator.faults.stopAt(SUSPEND, point);
      await scene.during(stop.reached);
      const client = await proxy.connect();
      await scene.pass(2_000);
      // The old generation answers, and would end under the client.
      expect(proxy.health).toMatchObject({ held: 1, spliced: 0 });
      expect(client.bytesReceived).toBe(0);
      stop.release();
      await servedByTheNext(client);
    },
  );

  it("when the suspend has just been answered, is held and then served by the next generation", async () => {
    const stop = scene.simulator.faults.stopAt(SUSPEND, "answered");
    await scene.during(stop.reached);
    const client = await proxy.connect();
    stop.release();
    await servedByTheNext(client);
  });

  it("and leaves before the outcome, costs nothing more than a suspended target", async () => {
    const stop = scene.simulator.faults.stopAt(SUSPEND, "applied");
    await scene.during(stop.reached);
    const client = await proxy.connect();
    await scene.settle();
    client.reset();
    await scene.until(() => proxy.health.held === 0);
    stop.release();
    await scene.until(() => proxy.phase === "suspended");
    await scene.pass(60_000, 1_000);
    expect(scene.accepted).toEqual(["wake", "suspend"]);
  });

  it("finds the suspend refused for a newer version, and is served by the generation that never ended", async () => {
    const stop = scene.simulator.faults.stopAt(SUSPEND, "received");
    await scene.during(stop.reached);
    await scene.call("PATCH", scene.path, { tags: { touched: "yes" } });
    const client = await proxy.connect();
    stop.release();
    expect(await scene.greeting(client)).toBe("G01 2022");
    expect(scene.writesSince(1)).toEqual([{ suspend: true, status: 409 }]);
    await scene.pass(120_000, 1_000);
    expect(scene.accepted).toEqual(["wake"]);
  });

  it("as a crowd on a suspend in flight, is served by one un-suspend", async () => {
    const stop = scene.simulator.faults.stopAt(SUSPEND, "received");
    await scene.during(stop.reached);
    const crowd = await Promise.all(Array.from({ length: 20 }, () => proxy.connect()));
    stop.release();
    for (const client of crowd) expect(await scene.greeting(client)).toBe("G02 2022");
    expect(scene.accepted).toEqual(["wake", "suspend", "wake"]);
  });

  it("when nobody changes their mind, and the suspend is simply suspended", async () => {
    await scene.until(() => proxy.phase === "suspended");
    const client = await proxy.connect();
    await servedByTheNext(client);
  });
});

describe("a suspend whose outcome is not known", () => {
  it.each([
    ["a reset", "reset"],
    ["a 504", 504],
  ] as const)(
    "given up after %s and applied late, is found and undone for the client that came meanwhile",
    async (_how, answer) => {
      const late = scene.simulator.faults.applyLate(SUSPEND, { answer });
      await scene.during(late.reached);
      const client = await proxy.connect();
      // One un-suspend is accepted, and what it finds is a target that was never suspended.
      await scene.until(() => scene.accepted.length === 2);
      expect(scene.accepted).toEqual(["wake", "wake"]);
      late.apply();
      // The late one carries a version that is no longer the newest.
      await scene.settle();
      expect(scene.suspended).toBe(false);
      expect(await scene.greeting(client)).toBe("G01 2022");
      await scene.pass(120_000, 1_000);
      expect(proxy.health.spliced).toBe(1);
      expect(scene.suspended).toBe(false);
    },
  );

  it("applied before the client's un-suspend, ends the old generation and the client gets the next", async () => {
    const late = scene.simulator.faults.applyLate(SUSPEND);
    const wake = scene.simulator.faults.stopAt(WAKE, "received");
    await scene.during(late.reached);
    const client = await proxy.connect();
    await scene.during(wake.reached);
    late.apply();
    await scene.settle();
    expect(scene.suspended).toBe(true);
    wake.release();
    expect(await scene.greeting(client)).toBe("G02 2022");
    await scene.pass(120_000, 1_000);
    expect(proxy.health.spliced).toBe(1);
    expect(scene.accepted).toEqual(["wake", "wake"]);
  });

  it("that lands after the un-suspend where versions are not compared, is seen and undone under the client", async () => {
    const { faults } = scene.simulator;
    // A platform that takes no version with a suspend: nothing protects from a late one but looking.
    faults.fail(
      { ...SUSPEND, where: (call) => SUSPEND.where?.(call) === true && "version" in (call.body as object) },
      { status: 400, message: "version is not allowed" },
    );
    const late = faults.applyLate({
      ...SUSPEND,
      where: (call) => SUSPEND.where?.(call) === true && !("version" in (call.body as object)),
    });
    await scene.during(late.reached);
    const client = await proxy.connect();
    await scene.until(() => scene.accepted.length === 2);
    late.apply();
    await scene.settle();
    expect(scene.suspended).toBe(true);
    await scene.until(() => scene.accepted.length === 3);
    expect(proxy.logged("late_suspend_undone", "foreign_suspend_undone")).toHaveLength(1);
    // The session, if it had begun, ended with the old replica; a client that comes now is served.
    client.reset();
    const next = await proxy.connect();
    expect(await scene.greeting(next)).toBe("G02 2022");
  });

  it("may land yet while the un-suspend is put off: nobody is let through before that one was accepted", async () => {
    const late = scene.simulator.faults.applyLate(SUSPEND);
    scene.simulator.faults.rateLimit(WAKE, { retryAfterSeconds: 12, times: 1 });
    await scene.during(late.reached);
    const client = await proxy.connect();
    // Reads say that it is not suspended, and the target answers; but the suspend is still under way.
    await scene.pass(10_000);
    expect(proxy.health).toMatchObject({ held: 1, spliced: 0 });
    expect(await scene.greeting(client)).toBe("G01 2022");
    expect(scene.accepted).toEqual(["wake", "wake"]);
    late.apply();
    await scene.pass(60_000, 500);
    expect(scene.suspended).toBe(false);
    client.write("x");
    expect(await scene.during(client.text(1))).toBe("x");
  });

  it("with nobody there, is repeated until it is seen to have landed", async () => {
    scene.simulator.faults.reset(SUSPEND, { times: 1 });
    await scene.until(() => proxy.phase === "suspended");
    expect(scene.suspended).toBe(true);
    expect(scene.writesSince(1).map(({ suspend }) => suspend)).toEqual([true, true]);
  });
});
