import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Scene, SUSPEND, WAKE } from "../../support/lifecycle.ts";
import type { SceneProxy } from "../../support/lifecycle-proxy.ts";

let scene: Scene;
let proxy: SceneProxy;

beforeEach(async () => {
  scene = await Scene.open({ boot: { ms: 5_000 } });
  proxy = await scene.proxy({ settings: { maxHoldMs: 30_000 } });
});

afterEach(() => scene[Symbol.asyncDispose]());

/** Whether it is over, without waiting for it. */
function watch(drain: Promise<void>): { over: boolean } {
  const seen = { over: false };
  void drain.then(() => {
    seen.over = true;
  });
  return seen;
}

const refused = async () => (await (await proxy.connect()).ended) === "ECONNREFUSED";

describe("a drain that is asked for", () => {
  it("takes clients for ten seconds more, keeps sessions, and is over with the last one", async () => {
    const session = await proxy.connect();
    await scene.greeting(session);
    const drain = watch(proxy.server.drain.withdraw());
    expect(proxy.server.ready).toBe(false);
    await scene.pass(9_000);
    const late = await proxy.connect();
    expect(await scene.greeting(late)).toBe("G01 2022");
    await scene.pass(1_500);
    expect(await refused()).toBe(true);
    late.end();
    await scene.pass(30_000);
    session.write("x");
    expect(await scene.during(session.text(1))).toBe("x");
    expect(drain.over).toBe(false);
    session.end();
    await scene.until(() => drain.over);
    // Nothing is suspended, however long it lasts.
    expect(scene.accepted).toEqual(["wake"]);
  });

  it("serves a client that it holds, by a wake of its own", async () => {
    const drain = watch(proxy.server.drain.withdraw());
    const client = await proxy.connect();
    expect(await scene.greeting(client)).toBe("G01 2022");
    client.end();
    await scene.until(() => drain.over);
    expect(scene.accepted).toEqual(["wake"]);
  });

  it("leaves held clients their deadlines", async () => {
    scene.manners.set(2022, "silent");
    const client = await proxy.connect();
    await scene.pass(5_000);
    const from = scene.clock.now();
    const drain = watch(proxy.server.drain.stop("SIGTERM"));
    expect(await scene.during(client.ended)).toBe("end");
    expect(scene.clock.now() - from).toBeGreaterThan(24_000);
    await scene.until(() => drain.over);
  });

  it("ends at its limit, and says how many sessions it cut", async () => {
    const session = await proxy.connect();
    await scene.greeting(session);
    const drain = watch(proxy.server.drain.withdraw());
    await scene.pass(74_000, 500);
    expect(drain.over).toBe(false);
    await scene.pass(1_500);
    expect(drain.over).toBe(true);
    expect(proxy.logged("drained")).toMatchObject([{ cut: 1 }]);
  });
});

describe("a signal", () => {
  it("refuses new clients at once, and waits for sessions as a drain does", async () => {
    const session = await proxy.connect();
    await scene.greeting(session);
    const drain = watch(proxy.server.drain.stop("SIGTERM"));
    expect(await refused()).toBe(true);
    expect(drain.over).toBe(false);
    session.end();
    await scene.until(() => drain.over);
  });

  it("during the ten seconds of a drain closes the listeners then", async () => {
    const session = await proxy.connect();
    await scene.greeting(session);
    const asked = watch(proxy.server.drain.withdraw());
    const told = watch(proxy.server.drain.stop("SIGINT"));
    expect(await refused()).toBe(true);
    session.end();
    await scene.until(() => asked.over && told.over);
  });
});

describe("a write in flight when a drain begins", () => {
  /** A target that nobody uses any more, with its suspend stopped at this point. */
  async function suspendAt(point: "received" | "applied") {
    const client = await proxy.connect();
    await scene.greeting(client);
    client.end();
    const stop = scene.simulator.faults.stopAt(SUSPEND, point);
    await scene.during(stop.reached);
    return stop;
  }

  it.each(["received", "applied"] as const)(
    "a suspend, %s, is awaited and no other follows",
    async (point) => {
      const stop = await suspendAt(point);
      const drain = watch(proxy.server.drain.stop("SIGTERM"));
      await scene.pass(5_000);
      expect(drain.over).toBe(false);
      stop.release();
      await scene.until(() => drain.over);
      expect(scene.accepted).toEqual(["wake", "suspend"]);
    },
  );

  it("a suspend, with a client that comes during the ten seconds, is followed by one un-suspend", async () => {
    const stop = await suspendAt("applied");
    const drain = watch(proxy.server.drain.withdraw());
    const client = await proxy.connect();
    stop.release();
    expect(await scene.greeting(client)).toBe("G02 2022");
    client.end();
    await scene.until(() => drain.over);
    expect(scene.accepted).toEqual(["wake", "suspend", "wake"]);
  });

  it("a suspend that was refused is not tried again", async () => {
    const stop = await suspendAt("received");
    const drain = watch(proxy.server.drain.stop("SIGTERM"));
    stop.release({ type: "answer", answer: { status: 429, body: {}, headers: {} } });
    await scene.until(() => drain.over);
    await scene.pass(120_000, 1_000);
    expect(scene.suspended).toBe(false);
  });

  it("a suspend whose answer is lost is not repeated, and the next proxy finds things as they are", async () => {
    const stop = await suspendAt("applied");
    const drain = watch(proxy.server.drain.stop("SIGTERM"));
    stop.release({ type: "reset" });
    await scene.until(() => drain.over);
    const successor = await scene.proxy();
    expect(scene.suspended).toBe(true);
    const client = await successor.connect();
    expect(await scene.greeting(client)).toBe("G02 2022");
  });

  it("an un-suspend is awaited, though its client has left", async () => {
    const stop = scene.simulator.faults.stopAt(WAKE, "applied");
    const client = await proxy.connect();
    await scene.during(stop.reached);
    const drain = watch(proxy.server.drain.stop("SIGTERM"));
    client.reset();
    await scene.pass(3_000);
    expect(drain.over).toBe(false);
    stop.release();
    await scene.until(() => drain.over);
    // Its successor ends what it began.
    const successor = await scene.proxy();
    await scene.until(() => scene.suspended, 500);
    expect(successor.logged("suspended")).toHaveLength(1);
  });
});
