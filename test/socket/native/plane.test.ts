import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { NativePlane } from "../../../proxy-image/src/net/native-plane.ts";
import { drainBuffered } from "../../../proxy-image/src/net/sockets.ts";
import { eventually } from "../../support/eventually.ts";
import { describeNative, openNativePlane, Switchboard, spliced } from "../../support/native.ts";

let board: Switchboard;
let plane: NativePlane;

beforeEach(async () => {
  board = await Switchboard.open();
  plane = openNativePlane();
});

afterEach(async () => {
  plane.stop();
  await board.close();
});

describeNative("the native plane", () => {
  it("passes both ends on, each in its time", async () => {
    const legs = await board.legs();
    const { end } = spliced(plane, legs);
    legs.atClient.end("question");
    expect(await legs.atTarget.text(8)).toBe("question");
    expect(await legs.atTarget.ended).toBe("end");
    legs.atTarget.end("answer");
    expect(await legs.atClient.text(6)).toBe("answer");
    expect(await legs.atClient.ended).toBe("end");
    expect(await end).toEqual({ reason: "closed", bytesUp: 8, bytesDown: 6 });
    expect(plane.stats().live).toBe(0);
  });

  it("leaves nothing of the sockets in Node", async () => {
    const legs = await board.legs();
    const { end, splice } = spliced(plane, legs);
    expect(legs.client.destroyed && legs.target.destroyed).toBe(true);
    legs.atClient.write("x");
    expect(await legs.atTarget.text(1)).toBe("x");
    splice.cut();
    expect(await legs.atClient.ended).toBe("ECONNRESET");
    expect(await legs.atTarget.ended).toBe("ECONNRESET");
    expect((await end).reason).toBe("cut");
    splice.cut();
  });

  it("shows a reset of one side to the other", async () => {
    for (const side of ["client", "target"] as const) {
      const legs = await board.legs();
      const { end } = spliced(plane, legs);
      const [goes, stays] =
        side === "client" ? [legs.atClient, legs.atTarget] : [legs.atTarget, legs.atClient];
      goes.reset();
      expect(await stays.ended).toBe("ECONNRESET");
      expect((await end).reason).toBe(`${side}_reset`);
    }
  });

  it("delivers what Node had read first, and then what it had not", async () => {
    const legs = await board.legs();
    legs.atClient.write("early");
    legs.atTarget.write("first");
    const pending = await Promise.all(
      [legs.client, legs.target].map(async (socket) => {
        socket.on("readable", () => {});
        await once(socket, "readable");
        socket.removeAllListeners("readable");
        return drainBuffered(socket);
      }),
    );
    legs.atClient.end("late");
    legs.atTarget.end("second");
    const [fromClient = [], fromTarget = []] = pending;
    const end = new Promise((resolve) =>
      plane.splice(
        { socket: legs.client, pending: [Buffer.from("very "), ...fromClient] },
        { socket: legs.target, pending: fromTarget },
        resolve,
      ),
    );
    expect(await legs.atTarget.text(99)).toBe("very earlylate");
    expect(await legs.atClient.text(99)).toBe("firstsecond");
    expect(await end).toEqual({ reason: "closed", bytesUp: 14, bytesDown: 11 });
  });

  it("gives what it can't take to the other plane", async () => {
    const legs = await board.legs({ read: false });
    // Bytes that only Node knows of: more than the kernel takes at once.
    const unsent = Buffer.alloc(32 << 20, "u");
    legs.target.write(unsent);
    expect(legs.target.writableLength).toBeGreaterThan(0);
    const { end } = spliced(plane, legs);
    expect(plane.stats().live).toBe(0);
    legs.atClient.end("and this");
    legs.atTarget.end();
    let received = 0;
    legs.atClient.socket.resume();
    for await (const chunk of legs.atTarget.socket) received += (chunk as Buffer).length;
    expect(received).toBe(unsent.length + 8);
    expect((await end).reason).toBe("closed");
  });

  it("cuts a reader that takes nothing, and a half-closed session where nothing moves", async () => {
    plane.stop();
    plane = openNativePlane({ stallMs: 300, halfCloseMs: 300 });
    const stalled = await board.legs({ read: false });
    const flooded = spliced(plane, stalled);
    stalled.atClient.write(Buffer.alloc(80 << 20));
    expect((await flooded.end).reason).toBe("target_stalled");

    const half = await board.legs();
    const lingering = spliced(plane, half);
    half.atClient.end();
    expect((await lingering.end).reason).toBe("half_closed");
    expect(await half.atTarget.ended).toBe("end");
  });

  it("tells of a held client that hangs up without reading it", async () => {
    const legs = await board.legs();
    const told: boolean[] = [];
    plane.watch(legs.client, (gone) => told.push(gone));
    legs.atClient.write(Buffer.alloc(100_000));
    legs.atClient.end();
    await eventually(() => told.length === 1);
    legs.atClient.reset();
    await eventually(() => told.length === 2);
    expect(told).toEqual([false, true]);
    expect(legs.client.bytesRead).toBe(0);

    const other = await board.legs();
    const unwatch = plane.watch(other.client, () => expect.unreachable());
    unwatch();
    unwatch();
    other.atClient.reset();
    const last = await board.legs();
    const hungUp = new Promise((resolve) => plane.watch(last.client, resolve));
    last.atClient.reset();
    expect(await hungUp).toBe(true);
  });

  it("takes a watched client over", async () => {
    const legs = await board.legs();
    plane.watch(legs.client, () => expect.unreachable());
    const { end } = spliced(plane, legs);
    legs.atClient.end("x");
    legs.atTarget.end();
    expect(await legs.atTarget.text(9)).toBe("x");
    expect((await end).reason).toBe("closed");
    await setImmediate();
  });
});
