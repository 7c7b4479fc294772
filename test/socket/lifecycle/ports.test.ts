import { afterEach, describe, expect, it } from "vitest";
import { Scene } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

const [FAST, SLOW] = [2022, 2023] as const;

let scene: Scene;
let proxy: SceneProxy;

afterEach(() => scene[Symbol.asyncDispose]());

async function open(slowMs: number): Promise<void> {
  scene = await Scene.open({ ports: [FAST, SLOW], boot: { ms: 2_000, ports: { [SLOW]: slowMs } } });
  proxy = await scene.proxy({ settings: { maxHoldMs: 60_000 } });
}

describe("two ports with different boots", () => {
  it("are proved one by one, by one un-suspend; each client waits for its own port alone", async () => {
    await open(20_000);
    const slow = await proxy.connect(SLOW);
    const fast = await proxy.connect(FAST);
    const from = scene.clock.now();
    expect(await scene.greeting(fast)).toBe(`G01 ${FAST}`);
    expect(scene.clock.now() - from).toBeLessThan(5_000);
    expect(slow.bytesReceived).toBe(0);
    expect(await scene.greeting(slow)).toBe(`G01 ${SLOW}`);
    expect(scene.clock.now() - from).toBeLessThan(25_000);
    expect(scene.accepted).toEqual(["wake"]);
  });

  it("share one idle clock: a session on one keeps the target for the other", async () => {
    await open(0);
    const stays = await proxy.connect(SLOW);
    await scene.greeting(stays);
    for (let round = 0; round < 3; round++) {
      const short = await proxy.connect(FAST);
      expect(await scene.greeting(short)).toBe(`G01 ${FAST}`);
      short.end();
      await scene.pass(90_000, 1_000);
    }
    expect(scene.accepted).toEqual(["wake"]);
    stays.end();
    await scene.until(() => proxy.health.activeConnections === 0);
    expect(await scene.until(() => scene.accepted.length === 2, 500)).toBeLessThan(63_000);
  });
});

describe("a port that never comes", () => {
  it.each(["silent", "close", "reset"] as const)(
    "(%s) harms no client of the other, and causes no write of its own",
    async (manner) => {
      await open(0);
      scene.manners.set(SLOW, manner);
      const lost = await proxy.connect(SLOW);
      const served = await proxy.connect(FAST);
      expect(await scene.greeting(served)).toBe(`G01 ${FAST}`);
      const more = await proxy.connect(FAST);
      expect(await scene.greeting(more)).toBe(`G01 ${FAST}`);
      expect(await scene.during(lost.ended, 500)).toBe("end");
      expect(proxy.logged("connection_ended")).toMatchObject([{ port: SLOW, reason: "hold_expired" }]);
      served.write("x");
      expect(await scene.during(served.text(1))).toBe("x");
      expect(scene.accepted).toEqual(["wake"]);
      // The target is idle when its clients have gone, whatever that port does.
      served.end();
      more.end();
      await scene.until(() => scene.accepted.length === 2, 500);
      expect(scene.accepted).toEqual(["wake", "suspend"]);
    },
  );

  it("and that is the first one, with a client of the other", async () => {
    await open(0);
    scene.manners.set(FAST, "silent");
    const client = await proxy.connect(SLOW);
    expect(await scene.greeting(client)).toBe(`G01 ${SLOW}`);
    client.end();
    await scene.until(() => scene.accepted.length === 2, 500);
  });

  it("is found again by its clients once it serves", async () => {
    await open(0);
    scene.manners.set(SLOW, "close");
    const client = await proxy.connect(SLOW);
    await scene.pass(20_000);
    scene.manners.set(SLOW, "echo");
    expect(await scene.greeting(client)).toBe(`G01 ${SLOW}`);
    expect(scene.accepted).toEqual(["wake"]);
  });
});

describe("a port that stops serving after it was proved", () => {
  it("costs its next client a wait, and those of the other port nothing", async () => {
    await open(0);
    const slow = await proxy.connect(SLOW);
    await scene.greeting(slow);
    scene.manners.set(SLOW, "reset");
    const waits = await proxy.connect(SLOW);
    const fast = await proxy.connect(FAST);
    expect(await scene.greeting(fast)).toBe(`G01 ${FAST}`);
    await scene.pass(5_000);
    expect(proxy.health).toMatchObject({ held: 1, spliced: 2 });
    scene.manners.set(SLOW, "echo");
    expect(await scene.greeting(waits)).toBe(`G01 ${SLOW}`);
    expect(scene.accepted).toEqual(["wake"]);
  });
});
