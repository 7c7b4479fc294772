import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWorld, echoSpec, ending, firstBytes, type World } from "./world.ts";

describe("a workload that is suspended and woken", () => {
  let world: World;
  let caller: string;
  beforeEach(async () => {
    world = await createWorld({ paused: true, graceMs: 30_000 });
    const proxy = world.write("proxy", echoSpec());
    caller = world.platform.impersonate(proxy).address;
  });
  afterEach(() => world.dispose());

  test("is reached through the mesh while it runs", async () => {
    const key = world.write("target", echoSpec());
    const { replicas } = await world.platform.when(key, (seen) => seen.ready === 1);
    const socket = world.dial(key, 2022, caller);
    expect(await firstBytes(socket)).toBe(`${replicas[0]?.name}\n`);
    socket.end("hello");
    expect(await ending(socket)).toMatchObject({ text: "hello", ended: true, reset: false });
    const [record] = world.platform.connections(key);
    expect(record).toMatchObject({ outcome: "relayed", bytesIn: 5, generation: 1, port: 2022, via: "mesh" });
  });

  test("goes on answering through its grace, and then everything of it ends", async () => {
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    const before = world.dial(key, 2022, caller);
    await firstBytes(before);
    world.suspend(key, true);
    const during = world.dial(key, 2022, caller);
    await firstBytes(during);
    expect(world.platform.snapshot(key)).toMatchObject({
      ready: 0,
      draining: 1,
      suspendedStatus: "suspended",
    });
    const ended = Promise.all([ending(before), ending(during)]);
    world.clock.advance(29_999);
    expect(world.platform.snapshot(key).draining).toBe(1);
    world.clock.advance(1);
    expect(await ended).toMatchObject([{ ended: true }, { ended: true }]);
    await world.platform.when(key, (seen) => seen.replicas.length === 0);
  });

  test("keeps connections made while it is down mute, also after it has booted", async () => {
    const key = world.write("target", echoSpec({ defaultOptions: { suspend: true } }));
    await world.platform.when(key, (seen) => seen.version === 1);
    const early = world.dial(key, 2022, caller);
    await once(early, "connect");
    await world.platform.when(key, (seen) => seen.connections({ outcome: "mute" }).length === 1);
    world.suspend(key, false);
    await world.platform.when(key, (seen) => seen.ready === 1);
    const late = world.dial(key, 2022, caller);
    await firstBytes(late);
    late.write("x");
    await firstBytes(late);
    expect(early.bytesRead).toBe(0);
    expect(world.platform.connections(key, { outcome: "mute", open: true })).toHaveLength(1);
  });

  test("gets a new generation when it is woken during its grace, and loses the old one's connections", async () => {
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    const old = world.dial(key, 2022, caller);
    const oldName = await firstBytes(old);
    const hold = world.platform.holdBoot(key);
    world.suspend(key, true);
    world.suspend(key, false);
    await hold.reached;
    const stillOld = world.dial(key, 2022, caller);
    expect(await firstBytes(stillOld)).toBe(oldName);
    hold.release();
    await world.platform.when(key, (seen) => seen.ready === 1);
    const fresh = world.dial(key, 2022, caller);
    expect(await firstBytes(fresh)).not.toBe(oldName);
    const ended = Promise.all([ending(old), ending(stillOld)]);
    world.clock.advance(30_000);
    await ended;
    fresh.write("alive");
    expect(await firstBytes(fresh)).toBe("alive");
    expect(world.platform.snapshot(key).replicas).toMatchObject([{ generation: 2 }]);
  });
});
