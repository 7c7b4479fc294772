import { afterEach, describe, expect, it } from "vitest";
import { Scene, type SceneOptions } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

let scene: Scene;
let proxy: SceneProxy;

afterEach(() => scene[Symbol.asyncDispose]());

/** A target that has just been suspended by its proxy, and whose old generation answers for a minute yet. */
async function justSuspended(options: SceneOptions, maxHoldMs = 90_000): Promise<void> {
  scene = await Scene.open({ boot: { ms: 3_000 }, graceSeconds: 60, ...options });
  proxy = await scene.proxy({ settings: { maxHoldMs } });
  const client = await proxy.connect();
  expect(await scene.greeting(client)).toBe("G01 2022");
  client.end();
  await scene.until(() => scene.accepted.at(-1) === "suspend");
}

/** The evidence by which the latest wake ended, and how long that took. */
function proof(): { evidence: unknown; tookMs: number } {
  const line = proxy.logged("ready").at(-1);
  return { evidence: line?.evidence, tookMs: Number(line?.tookMs) };
}

async function servedByTheNext(): Promise<void> {
  const client = await proxy.connect();
  expect(await scene.greeting(client)).toBe("G02 2022");
  // Past the end of the old generation.
  await scene.pass(120_000, 1_000);
  client.write("x");
  expect(await scene.during(client.text(1))).toBe("x");
}

describe("while the old generation still answers, a client is connected to the new one", () => {
  it("by a fresh status: as soon as it is up", async () => {
    await justSuspended({ api: { deploymentReadable: "view" } });
    await servedByTheNext();
    expect(proof().evidence).toBe("deployment_ready");
    expect(proof().tookMs).toBeLessThan(6_000);
  });

  it("by a status that lags 30 s: no later than that", async () => {
    await justSuspended({ workloads: { statusLagMs: 30_000 }, api: { deploymentReadable: "view" } });
    await servedByTheNext();
    expect(proof().evidence).toBe("deployment_ready");
    expect(proof().tookMs).toBeGreaterThanOrEqual(30_000);
    expect(proof().tookMs).toBeLessThan(36_000);
  });

  it("without a readable status: when the old one's time is over", async () => {
    await justSuspended({ api: { deploymentReadable: "manage" } });
    await servedByTheNext();
    expect(proof().evidence).toBe("no_recent_suspend");
    expect(proof().tookMs).toBeGreaterThanOrEqual(65_000);
    expect(proof().tookMs).toBeLessThan(75_000);
  });

  it("where a flip of suspend moves no deployment version, and status counts the old replicas", async () => {
    await justSuspended({ workloads: { suspendMovesVersion: false }, api: { deploymentReadable: "view" } });
    await servedByTheNext();
  });

  it("where draining replicas take no new connections: by an answer after silence", async () => {
    await justSuspended({ workloads: { draining: "withdrawn" }, api: { deploymentReadable: "manage" } });
    await servedByTheNext();
    expect(proof().evidence).toBe("nobody_then_answer");
    expect(proof().tookMs).toBeLessThan(6_000);
  });

  it("where somebody else suspended it and wakes it again", async () => {
    scene = await Scene.open({ boot: { ms: 3_000 }, graceSeconds: 60, suspended: false });
    proxy = await scene.proxy();
    await scene.suspend(true);
    await scene.until(() => proxy.phase === "suspended");
    await scene.suspend(false);
    await servedByTheNext();
  });
});

describe("a status that says what is not so", () => {
  it("of the suspended deployment, that it is ready, proves nothing", async () => {
    await justSuspended({ boot: { ms: 50_000 } });
    const client = await proxy.connect();
    await scene.pass(40_000);
    expect(client.bytesReceived).toBe(0);
    expect(await scene.greeting(client)).toBe("G02 2022");
  });
});

describe("a client whose hold is about to end", () => {
  it("is connected to a target that answers without proof, rather than dropped", async () => {
    await justSuspended({ api: { deploymentReadable: "manage" } }, 30_000);
    const client = await proxy.connect();
    // The second generation serves it: the mesh prefers it, only no proof of that is to be had.
    expect(await scene.greeting(client)).toBe("G02 2022");
    expect(proxy.logged("connected_unproved")).toHaveLength(1);
    await scene.pass(120_000, 1_000);
    expect(proxy.health.spliced).toBe(1);
  });
});

describe("a first client after the proxy's start", () => {
  it("wakes a suspended target by an answer after silence", async () => {
    scene = await Scene.open({ boot: { ms: 3_000 }, api: { deploymentReadable: "manage" } });
    proxy = await scene.proxy();
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
    expect(proof().evidence).toBe("nobody_then_answer");
    expect(proof().tookMs).toBeLessThan(6_000);
  });

  it.each(["silent", "close", "reset", "refuse"] as const)(
    "behind a mesh that is %s for a target which is down",
    async (suspendedMesh) => {
      scene = await Scene.open({ boot: { ms: 3_000 }, workloads: { suspendedMesh } });
      proxy = await scene.proxy();
      const client = await proxy.connect();
      expect(await scene.greeting(client)).toBe("G01 2022");
      expect(scene.accepted).toEqual(["wake"]);
      expect(proof().tookMs).toBeLessThan(5_500);
    },
  );

  it("is served by an awake target although the API can't be reached", async () => {
    scene = await Scene.open({ suspended: false });
    await scene.simulator.down();
    proxy = await scene.proxy();
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
    client.end();
    // In doubt nothing is suspended, whatever time passes.
    await scene.pass(600_000, 5_000);
    await scene.simulator.up();
    expect(scene.accepted).toEqual([]);
    await scene.until(() => scene.accepted.length > 0);
    expect(scene.accepted).toEqual(["suspend"]);
  });
});
