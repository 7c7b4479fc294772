import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Failure } from "../../../simulator/src/platform/failures.ts";
import { Scene } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

let scene: Scene;
let proxy: SceneProxy;

beforeEach(async () => {
  scene = await Scene.open({ boot: { ms: 1_000 }, api: { deploymentReadable: "view" } });
  proxy = await scene.proxy();
});

afterEach(() => scene[Symbol.asyncDispose]());

/** A client's hold, to its end. */
async function holdMs(): Promise<number> {
  const client = await proxy.connect();
  const from = scene.clock.now();
  expect(await scene.during(client.ended)).toBe("end");
  expect(client.bytesReceived).toBe(0);
  return scene.clock.now() - from;
}

const KINDS: [Failure["kind"], string][] = [
  ["image-pull", "image_pull"],
  ["crash-loop", "crash_loop"],
  ["quota", "quota"],
  ["unschedulable", "unschedulable"],
];

describe.each(KINDS)("a target that can't start: %s", (kind, reason) => {
  it("ends the hold early with that reason in the log and in health; and serves again when it is mended", async () => {
    scene.simulator.platform.fail(scene.target, { kind });
    expect(await holdMs()).toBeLessThan(20_000);
    expect(proxy.logged("target_failed")).toMatchObject([{ reason }]);
    expect(proxy.logged("connection_ended")).toMatchObject([
      { reason: "target_failed", detail: expect.stringMatching(new RegExp(`^${reason}: `)) },
    ]);
    expect(proxy.condition("target_failing")?.reason).toMatch(new RegExp(`^${reason}: `));
    // Whoever comes soon after is told at once; whoever comes later is a new try.
    expect(await holdMs()).toBeLessThan(500);
    await scene.pass(10_000);
    scene.simulator.platform.clear(scene.target);
    await scene.until(() => scene.ready > 0, 500);
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toMatch(/^G\d\d 2022$/);
    await scene.pass(1_000);
    expect(proxy.condition("target_failing")).toBeUndefined();
    expect(scene.accepted).toEqual(["wake"]);
  });

  it("is suspended, and from the second failed generation on without an idle-hold; until one succeeds", async () => {
    const { platform } = scene.simulator;
    platform.fail(scene.target, { kind });
    await holdMs();
    const first = await scene.until(() => scene.suspended, 250);
    expect(first).toBeGreaterThan(50_000);
    await scene.pass(30_000, 500);
    await holdMs();
    expect(proxy.logged("target_failed")).toHaveLength(2);
    expect(await scene.until(() => scene.suspended, 250)).toBeLessThan(10_000);
    expect(scene.accepted).toEqual(["wake", "suspend", "wake", "suspend"]);
    platform.clear(scene.target);
    await scene.pass(60_000, 500);
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toMatch(/^G\d\d 2022$/);
    client.end();
    expect(await scene.until(() => scene.suspended, 250)).toBeGreaterThan(55_000);
  });
});

describe("a target that keeps failing", () => {
  it("costs fewer tries the longer it lasts, however many clients come", async () => {
    scene.simulator.platform.fail(scene.target, { kind: "image-pull" });
    const from = scene.clock.now();
    let clients = 0;
    while (scene.clock.now() - from < 300_000) {
      await holdMs();
      clients += 1;
      await scene.pass(2_000, 500);
    }
    expect(clients).toBeGreaterThan(25);
    expect(scene.writes.length).toBeLessThan(20);
    expect(proxy.logged("internal_error")).toEqual([]);
  });

  it("is tried again at once by nobody: with no client it stays suspended", async () => {
    scene.simulator.platform.fail(scene.target, { kind: "unschedulable" });
    await holdMs();
    await scene.until(() => scene.suspended, 250);
    await scene.pass(600_000, 5_000);
    expect(scene.accepted).toEqual(["wake", "suspend"]);
  });
});

describe("a failure that the platform does not report", () => {
  it("where status can't be read, holds clients to their deadline", async () => {
    await scene[Symbol.asyncDispose]();
    scene = await Scene.open({ boot: { ms: 1_000 }, api: { deploymentReadable: "manage" } });
    proxy = await scene.proxy({ settings: { maxHoldMs: 20_000 } });
    scene.simulator.platform.fail(scene.target, { kind: "image-pull" });
    expect(await holdMs()).toBeGreaterThanOrEqual(19_900);
    expect(proxy.logged("target_failed")).toEqual([]);
  });
});
