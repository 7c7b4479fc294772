import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { Scene, SUSPEND, WAKE } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

let scene: Scene;
let proxy: SceneProxy;

afterEach(() => scene[Symbol.asyncDispose]());

/** Sockets of this process that are open: clients, both legs of the proxy, and the platform's. */
const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

const crowd = (count: number) => Promise.all(Array.from({ length: count }, () => proxy.connect()));

/** Everything that a client could have left behind is gone, and the next one is served. */
async function backAtBaseline(baseline: number): Promise<void> {
  await scene.until(() => proxy.health.activeConnections === 0, 200);
  await scene.until(() => sockets() <= baseline, 200);
  scene.manners.clear();
  const client = await proxy.connect();
  expect(await scene.greeting(client)).toMatch(/^G\d\d 2022$/);
  client.end();
  await scene.until(() => proxy.health.activeConnections === 0, 200);
  expect(proxy.logged("internal_error")).toEqual([]);
}

describe("clients that reset", () => {
  it.each<[string, () => Promise<void>]>([
    [
      "as they are accepted",
      async () => {
        for (let round = 0; round < 20; round++) for (const client of await crowd(5)) client.reset();
      },
    ],
    [
      "while they are held",
      async () => {
        const clients = await crowd(20);
        for (const client of clients) client.write("early");
        await scene.until(() => proxy.health.held === 20);
        for (const client of clients) client.reset();
      },
    ],
    [
      "while the un-suspend is under way",
      async () => {
        const stop = scene.simulator.faults.stopAt(WAKE, "applied");
        const clients = await crowd(20);
        await scene.during(stop.reached);
        for (const client of clients) client.reset();
        stop.release();
      },
    ],
    [
      "in the turn in which the port is proved and all are dialled",
      async () => {
        const clients = await crowd(20);
        await scene.until(() => proxy.logged("ready").length > 0, 10);
        for (const client of clients) client.reset();
      },
    ],
    [
      "while their own connections are mute",
      async () => {
        const first = await proxy.connect();
        await scene.greeting(first);
        first.end();
        scene.manners.set(2022, "silent");
        const clients = await crowd(20);
        await scene.pass(3_000);
        for (const client of clients) client.reset();
      },
    ],
    [
      "while they are spliced, with bytes under way both ways",
      async () => {
        const clients = await crowd(20);
        for (const client of clients) await scene.greeting(client);
        for (const client of clients) client.write(Buffer.alloc(256 * 1024));
        for (const client of clients) client.reset();
      },
    ],
    [
      "after they have ended their half",
      async () => {
        const clients = await crowd(20);
        for (const client of clients) client.end("request");
        await scene.until(() => proxy.logged("ready").length > 0, 10);
        for (const client of clients) client.reset();
      },
    ],
  ])("%s leave nothing behind", async (_when, happen) => {
    scene = await Scene.open({ boot: { ms: 2_000 } });
    proxy = await scene.proxy({ settings: { idleHoldMs: 3_600_000 } });
    const baseline = sockets();
    await happen();
    await backAtBaseline(baseline);
  });
});

describe("targets that reset", () => {
  it.each<[string, () => Promise<void>]>([
    [
      "their probes",
      async () => {
        scene.manners.set(2022, "reset");
        const clients = await crowd(10);
        await scene.pass(10_000);
        for (const client of clients) client.reset();
      },
    ],
    [
      "the clients' own connections, before a byte",
      async () => {
        const first = await proxy.connect();
        await scene.greeting(first);
        scene.manners.set(2022, "reset");
        const clients = await crowd(10);
        await scene.pass(5_000);
        expect(proxy.health.held).toBe(10);
        for (const client of [first, ...clients]) client.reset();
      },
    ],
    [
      "live sessions, all at once",
      async () => {
        const clients = await crowd(20);
        for (const client of clients) await scene.greeting(client);
        scene.simulator.platform.killReplica(scene.target);
        for (const client of clients) {
          await scene.during(client.ended);
          client.end();
        }
      },
    ],
  ])("%s, leave nothing behind", async (_what, happen) => {
    scene = await Scene.open({ boot: { ms: 2_000 } });
    proxy = await scene.proxy({ settings: { idleHoldMs: 3_600_000 } });
    const baseline = sockets();
    await happen();
    await backAtBaseline(baseline);
  });
});

describe("a cap on held clients", () => {
  it("turns away exactly those above it, and is free again whatever became of the others", async () => {
    scene = await Scene.open({ boot: { ms: 5_000 } });
    proxy = await scene.proxy({ settings: { maxHeld: 50, idleHoldMs: 3_600_000 } });
    const clients = await crowd(60);
    await scene.until(() => proxy.logged("connection_refused").length === 10, 1);
    expect(proxy.health.held).toBe(50);
    const greetings: string[] = [];
    for (const client of clients) greetings.push(await scene.greeting(client));
    expect(greetings.filter((text) => text === "G01 2022")).toHaveLength(50);
    expect(greetings.filter((text) => text === "")).toHaveLength(10);
    for (const client of clients) client.end();
    await scene.until(() => proxy.health.activeConnections === 0);

    scene.manners.set(2022, "close");
    for (let round = 0; round < 20; round++) {
      const failing = await crowd(25);
      await scene.until(() => proxy.health.held === 25, 1);
      for (const client of failing) client.reset();
      await scene.until(() => proxy.health.held === 0, 10);
    }
    scene.manners.clear();
    const again = await crowd(50);
    for (const client of again) expect(await scene.greeting(client)).toBe("G01 2022");
  });
});

describe("twenty wakes and suspends", () => {
  it("alternate, and nothing grows: no timer, no socket, no memory", async () => {
    scene = await Scene.open({ boot: { ms: 2_000 } });
    proxy = await scene.proxy();
    const seen: { timers: number; sockets: number; heap: number }[] = [];
    for (let cycle = 1; cycle <= 20; cycle++) {
      const clients = await crowd(5);
      for (const client of clients) {
        expect(await scene.greeting(client)).toBe(`G${String(cycle).padStart(2, "0")} 2022`);
        client.end("bye");
      }
      await scene.until(() => scene.suspended && proxy.phase === "suspended", 500);
      // Past the old generation, and a minute's sum.
      await scene.pass(90_000, 3_000);
      seen.push({ timers: scene.clock.pending, sockets: sockets(), heap: heapUsed() });
    }
    expect(scene.accepted).toEqual(Array.from({ length: 20 }, () => ["wake", "suspend"]).flat());
    expect(scene.simulator.recorder.matching(WAKE)).toHaveLength(20);
    expect(scene.simulator.recorder.matching(SUSPEND)).toHaveLength(20);
    const [, , third] = seen;
    const last = seen.at(-1);
    expect(last?.timers).toBeLessThanOrEqual(third?.timers ?? 0);
    expect(last?.sockets).toBeLessThanOrEqual(third?.sockets ?? 0);
    // What the platform itself remembers of every call and connection is in here as well.
    expect((last?.heap ?? 0) - (third?.heap ?? 0)).toBeLessThan(4 * 1024 * 1024);
  });
});

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
