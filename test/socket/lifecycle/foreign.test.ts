import { afterEach, describe, expect, it } from "vitest";
import { Scene, type SceneOptions } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

let scene: Scene;
let proxy: SceneProxy;

afterEach(() => scene[Symbol.asyncDispose]());

async function open(options: SceneOptions = {}, maxHoldMs = 90_000): Promise<void> {
  scene = await Scene.open({ boot: { ms: 1_000 }, ...options });
  proxy = await scene.proxy({ settings: { maxHoldMs } });
}

const tag = (mode: string | null) =>
  scene.call("PATCH", scene.path, { tags: { "scale-to-zero/mode": mode } });

describe("a suspend by somebody else", () => {
  it("under clients is undone within a watch interval; a second one within ten minutes is obeyed, visibly", async () => {
    await open({ graceSeconds: 30 }, 20_000);
    const session = await proxy.connect();
    expect(await scene.greeting(session)).toBe("G01 2022");
    await scene.suspend(true);
    expect(await scene.until(() => scene.accepted.length === 2)).toBeLessThan(17_000);
    expect(proxy.logged("foreign_suspend_undone")).toHaveLength(1);
    // Replicas that end, end: the session goes with them, and whoever comes is served by the next ones.
    await scene.during(session.ended);
    session.end();
    const second = await proxy.connect();
    expect(await scene.greeting(second)).toBe("G02 2022");

    await scene.suspend(true);
    await scene.until(() => proxy.condition("foreign_suspend_obeyed") !== undefined);
    const obeyed = scene.clock.now();
    expect(proxy.logged("foreign_suspend_obeyed")).toHaveLength(1);
    await scene.during(second.ended);
    second.end();
    const turnedDown = await proxy.connect();
    expect(await scene.during(turnedDown.ended, 250)).toBe("end");
    expect(scene.accepted).toEqual(["wake", "wake"]);

    await scene.pass(obeyed + 600_000 - scene.clock.now() + 1_000, 1_000);
    expect(proxy.condition("foreign_suspend_obeyed")).toBeUndefined();
    const later = await proxy.connect();
    expect(await scene.greeting(later)).toBe("G03 2022");
  });

  it("that is taken back after it was obeyed, is obeyed no longer", async () => {
    await open();
    for (const generation of ["G01 2022", "G02 2022"]) {
      expect(await scene.greeting(await proxy.connect())).toBe(generation);
      await scene.suspend(true);
      await scene.until(() => proxy.phase !== "awake");
    }
    await scene.until(() => proxy.condition("foreign_suspend_obeyed") !== undefined);
    await scene.suspend(false);
    await scene.until(() => proxy.condition("foreign_suspend_obeyed") === undefined, 500);
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G03 2022");
  });

  it("with nobody there is believed, and the next client wakes it", async () => {
    await open({ suspended: false });
    await scene.suspend(true);
    await scene.until(() => proxy.phase === "suspended", 500);
    await scene.pass(120_000, 1_000);
    expect(scene.accepted).toEqual([]);
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G02 2022");
    expect(scene.accepted).toEqual(["wake"]);
  });
});

describe("an un-suspend by somebody else", () => {
  it("is taken as a wake: it ends in a suspend an idle-hold after it was ready", async () => {
    await open();
    await scene.suspend(false);
    await scene.until(() => proxy.phase === "awake", 500);
    expect(proxy.logged("foreign_wake")).toHaveLength(1);
    expect(await scene.until(() => scene.accepted.length === 1, 500)).toBeGreaterThanOrEqual(59_000);
    expect(scene.accepted).toEqual(["suspend"]);
  });

  it("serves a client that comes before the proxy has noticed", async () => {
    await open();
    await scene.suspend(false);
    await scene.until(() => scene.ready > 0);
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
  });
});

describe("the tag scale-to-zero/mode", () => {
  it("paused: nothing is written, a client of a suspended target waits in vain; and it is as before without the tag", async () => {
    await open({ tags: { "scale-to-zero/mode": "paused" } }, 20_000);
    const client = await proxy.connect();
    expect(await scene.during(client.ended, 250)).toBe("end");
    expect(scene.writes).toEqual([]);
    expect(proxy.condition("paused")).toBeDefined();
    expect(proxy.health.targets[0]?.mode).toBe("paused");
    await tag(null);
    await scene.until(() => proxy.condition("paused") === undefined, 500);
    const served = await proxy.connect();
    expect(await scene.greeting(served)).toBe("G01 2022");
  });

  it("paused: an awake target serves and is not suspended", async () => {
    await open({ suspended: false, tags: { "scale-to-zero/mode": "paused" } });
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
    client.end();
    await scene.pass(600_000, 5_000);
    expect(scene.writes).toEqual([]);
    await tag(null);
    await scene.until(() => scene.suspended, 1_000);
  });

  it("always-on: clients wake it, nothing suspends it", async () => {
    await open({ tags: { "scale-to-zero/mode": "always-on" } });
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
    client.end();
    await scene.pass(600_000, 5_000);
    expect(scene.accepted).toEqual(["wake"]);
    expect(proxy.condition("always_on")).toBeDefined();
    await tag(null);
    await scene.until(() => scene.suspended, 1_000);
  });

  it("set between the decision and the suspend, is honoured: the suspend carries an older version", async () => {
    await open({ suspended: false });
    const stop = scene.simulator.faults.stopAt({ method: "PATCH", path: scene.path }, "received");
    await scene.during(stop.reached);
    await tag("always-on");
    stop.release();
    await scene.pass(300_000, 1_000);
    expect(scene.suspended).toBe(false);
    expect(scene.writes).toEqual([{ suspend: true, status: 409 }]);
  });
});

describe("a target that is deleted and created anew", () => {
  it("while suspended, is another one, and is woken all the same", async () => {
    await open();
    await scene.call("DELETE", scene.path);
    await scene.create();
    await scene.until(() => proxy.logged("target_recreated").length === 1, 1_000);
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
  });

  it("under a session, is never suspended on what was known of its predecessor", async () => {
    await open();
    const session = await proxy.connect();
    await scene.greeting(session);
    await scene.call("DELETE", scene.path);
    await scene.during(session.ended, 250);
    session.end();
    await scene.until(() => proxy.logged("target_missing").length === 1, 250);
    const waits = await proxy.connect();
    await scene.create({ suspended: false });
    expect(await scene.greeting(waits)).toBe("G02 2022");
    waits.end();
    await scene.until(() => scene.suspended, 500);
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G03 2022");
  });

  it("around a suspend in flight, which may land on it by chance, cuts no client", async () => {
    await open({ suspended: false });
    const stop = scene.simulator.faults.stopAt({ method: "PATCH", path: scene.path }, "received");
    await scene.during(stop.reached);
    const client = await proxy.connect();
    await scene.call("DELETE", scene.path);
    await scene.create({ suspended: false });
    stop.release();
    // Versions count from 1 again, so the platform can't tell that the suspend was meant for another one.
    expect(await scene.greeting(client)).toBe("G03 2022");
    expect(scene.accepted).toEqual(["suspend", "wake"]);
    await scene.pass(120_000, 1_000);
    client.write("x");
    expect(await scene.during(client.text(1))).toBe("x");
    expect(scene.suspended).toBe(false);
  });
});

describe("the size of the target", () => {
  it("is what it was: nothing is ever written but suspend", async () => {
    await open({ autoscaling: { metric: "cpu", target: 50, minScale: 2, maxScale: 3 } });
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toMatch(/^G0[12] 2022$/);
    await scene.until(() => scene.ready === 2);
    client.end();
    await scene.until(() => scene.suspended, 500);
    const again = await proxy.connect();
    expect(await scene.greeting(again)).toMatch(/^G0[34] 2022$/);
    await scene.until(() => scene.ready === 2);
    const bodies = scene.simulator.recorder.matching({ method: "PATCH" }).map(({ body }) => body);
    expect(bodies).toEqual([
      { spec: { defaultOptions: { suspend: false } } },
      { version: expect.any(Number), spec: { defaultOptions: { suspend: true } } },
      { spec: { defaultOptions: { suspend: false } } },
    ]);
    const document = scene.simulator.store.get(scene.target) as unknown as {
      spec: { defaultOptions: { autoscaling: object } };
    };
    expect(document.spec.defaultOptions.autoscaling).toMatchObject({
      metric: "cpu",
      minScale: 2,
      maxScale: 3,
    });
  });

  it("is left to another scaler where it has one, and said to be", async () => {
    await open({ suspended: false, autoscaling: { metric: "keda" } });
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
    client.end();
    await scene.pass(600_000, 5_000);
    expect(scene.writes).toEqual([]);
    expect(proxy.condition("other_scaler")?.reason).toBe("keda");
    expect(proxy.logged("other_scaler")).toHaveLength(1);
  });
});
