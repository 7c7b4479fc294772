import { afterEach, describe, expect, it } from "vitest";
import { Scene } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

let scene: Scene;
let proxy: SceneProxy;

afterEach(() => scene[Symbol.asyncDispose]());

const burst = (count: number) => Promise.all(Array.from({ length: count }, () => proxy.connect()));

describe("connections to the target", () => {
  it("are one a client while it is warm", async () => {
    scene = await Scene.open({ boot: { ms: 1_000 } });
    proxy = await scene.proxy();
    await scene.greeting(await proxy.connect());
    await scene.settle();
    const before = scene.connections.length;
    const clients = await burst(50);
    for (const client of clients) expect(await scene.greeting(client)).toBe("G01 2022");
    expect(scene.connections.length - before).toBe(50);
    expect(scene.taken.filter(({ endedAt }) => endedAt === undefined)).toHaveLength(51);
  });

  it("are one a client plus the wake's probes after a cold burst, which costs one un-suspend", async () => {
    scene = await Scene.open({ boot: { ms: 3_000 } });
    proxy = await scene.proxy();
    const clients = await burst(200);
    for (const client of clients) expect(await scene.greeting(client)).toBe("G01 2022");
    expect(scene.accepted).toEqual(["wake"]);
    // A probe every 500 ms for as long as the wake lasted, whoever waited.
    const probes = scene.connections.length - 200;
    expect(probes).toBeGreaterThan(0);
    expect(probes).toBeLessThanOrEqual(3_000 / 500 + 5);
    expect(scene.taken.filter(({ endedAt }) => endedAt === undefined)).toHaveLength(200);
  });

  it("are made so many at once as DIAL_LIMIT says, first come first served", async () => {
    scene = await Scene.open({ boot: { ms: 1_000 } });
    proxy = await scene.proxy({ settings: { dialLimit: 3, probeWindowMs: 10_000 } });
    const first = await proxy.connect();
    await scene.greeting(first);
    // From here on a connection is taken and not answered until the test says so.
    scene.manners.set(2022, "silent");
    const clients = [];
    for (let index = 0; index < 8; index++) {
      clients.push(await proxy.connect());
      await scene.until(() => proxy.health.held === index + 1);
    }
    await scene.settle();
    const dialled = scene.taken.filter(({ endedAt, bytesOut }) => endedAt === undefined && bytesOut === 0);
    expect(dialled).toHaveLength(3);
    // Whoever leaves makes room for the next, and the last to come is the last to be dialled.
    scene.manners.set(2022, "echo");
    const served: number[] = [];
    clients.forEach(
      (client, index) => void client.bytes(1).then((data) => data.length > 0 && served.push(index)),
    );
    clients[0]?.reset();
    await scene.until(() => served.length === 5);
    expect(served).toEqual([3, 4, 5, 6, 7]);
    // The mute ones have lost nothing and are served by a later connection.
    await scene.until(() => served.length === 7, 200);
    expect(served.slice(5).sort()).toEqual([1, 2]);
  });

  it("that stay mute are replaced once a probe beside them is answered, and no byte is lost", async () => {
    scene = await Scene.open({ boot: { ms: 1_000 } });
    proxy = await scene.proxy();
    await scene.greeting(await proxy.connect());
    scene.manners.set(2022, "silent");
    const client = await proxy.connect();
    client.write("hello");
    await scene.pass(1_500);
    scene.manners.set(2022, "echo");
    expect(await scene.greeting(client)).toBe("G01 2022");
    expect(await scene.during(client.text(5))).toBe("hello");
    expect(scene.accepted).toEqual(["wake"]);
  });

  it("of a target that dies under its proxy's nose are made anew with the generation that follows", async () => {
    scene = await Scene.open({ boot: { ms: 1_000 } });
    proxy = await scene.proxy();
    const session = await proxy.connect();
    await scene.greeting(session);
    scene.simulator.platform.killReplica(scene.target);
    expect(await scene.during(session.ended)).not.toBe("");
    const next = await proxy.connect();
    expect(await scene.greeting(next)).toBe("G02 2022");
    expect(scene.accepted).toEqual(["wake"]);
  });
});
