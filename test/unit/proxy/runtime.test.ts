import { describe, expect, it } from "vitest";
import { Log } from "../../../proxy-image/src/log/log.ts";
import { Sums } from "../../../proxy-image/src/log/sums.ts";
import { hookHost } from "../../../proxy-image/src/prestop.ts";
import { capByDescriptors, refusal } from "../../../proxy-image/src/runtime/admission.ts";
import { holdWarningMs } from "../../../proxy-image/src/runtime/connection.ts";
import { parseDescriptorLimit } from "../../../proxy-image/src/runtime/descriptors.ts";
import { Drain } from "../../../proxy-image/src/runtime/drain.ts";
import { ManualClock } from "../../support/manual-clock.ts";

function memoryLog() {
  const lines: Record<string, unknown>[] = [];
  return {
    lines,
    log: new Log(
      (line) => lines.push(JSON.parse(line)),
      () => 0,
    ),
  };
}

describe("admission", () => {
  const caps = { maxHeld: 2, maxConnections: 3 };
  const none = { held: 0, spliced: 0 };
  const target = (held: number, spliced: number) => ({ census: { held, spliced }, caps });

  it.each([
    [target(1, 1), target(1, 1), undefined],
    [target(2, 0), target(2, 0), "target_held"],
    [target(0, 3), target(0, 3), "target_connections"],
    [target(0, 0), target(2, 0), "all_held"],
    [target(0, 0), target(1, 2), "all_connections"],
    [{ census: none, caps: { maxHeld: 1, maxConnections: 1 } }, target(0, 0), undefined],
  ])("of one more beside %j and %j: %s", (one, all, reason) => {
    expect(refusal(one, all)).toBe(reason);
  });

  it("takes no more clients than there are descriptors for", () => {
    expect(capByDescriptors(8000, undefined)).toBe(8000);
    expect(capByDescriptors(8000, 1_048_576)).toBe(8000);
    expect(capByDescriptors(8000, 1024)).toBe(384);
    expect(capByDescriptors(8000, 10)).toBe(2);
    expect(
      parseDescriptorLimit("Max open files            1024                 4096                 files"),
    ).toBe(1024);
    expect(parseDescriptorLimit("Max open files            unlimited            unlimited")).toBeUndefined();
  });
});

it("announces the end of a hold a little before", () => {
  expect(holdWarningMs(90_000)).toBe(2_000);
  expect(holdWarningMs(5_000)).toBe(500);
});

it("asks the proxy to drain where it listens", () => {
  expect(["", "::", "0.0.0.0", "127.1.2.3"].map(hookHost)).toEqual([
    "127.0.0.1",
    "127.0.0.1",
    "127.0.0.1",
    "127.1.2.3",
  ]);
});

describe("the log", () => {
  it("is one JSON object a line, with the event's level and the target", () => {
    const { lines, log } = memoryLog();
    log.of("demo/sftp").note({ event: "wake_timeout", attempt: 2, afterMs: 120_000 });
    log.event("listeners_closed", {});
    expect(lines).toEqual([
      {
        time: "1970-01-01T00:00:00.000Z",
        level: "warn",
        event: "wake_timeout",
        target: "demo/sftp",
        attempt: 2,
        afterMs: 120_000,
      },
      { time: "1970-01-01T00:00:00.000Z", level: "info", event: "listeners_closed" },
    ]);
  });

  it("sums clients up by the minute, and says nothing while nothing happens", () => {
    const { lines, log } = memoryLog();
    const clock = new ManualClock();
    const sums = new Sums(log, clock);
    sums.countAccepted();
    sums.countEnded({ reason: "closed", heldMs: 12.4, bytesUp: 1, bytesDown: 2 });
    sums.countEnded({ reason: "closed", heldMs: 3, bytesUp: 10, bytesDown: 20 });
    clock.advance(60_000);
    clock.advance(600_000);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      event: "connections",
      accepted: 1,
      ended: { closed: 2 },
      longestHoldMs: 12,
      bytesUp: 11,
      bytesDown: 22,
    });
    expect(clock.pending).toBe(0);
  });

  it("limits single lines, and counts what it left out", () => {
    const { lines, log } = memoryLog();
    const clock = new ManualClock();
    const sums = new Sums(log, clock);
    const allowed = Array.from({ length: 100 }, () => sums.mayLog()).filter(Boolean);
    expect(allowed).toHaveLength(60);
    clock.advance(60_000);
    expect(lines[0]).toMatchObject({ unlogged: 40 });
    expect(sums.mayLog()).toBe(true);
  });
});

describe("a drain", () => {
  function make() {
    const clock = new ManualClock();
    const did: string[] = [];
    const world = { held: 0, spliced: 0, writing: false };
    const drain = new Drain({
      clock,
      log: memoryLog().log,
      timeoutMs: 75_000,
      census: () => world,
      writing: () => world.writing,
      begin: () => did.push("begin"),
      closeListeners: () => did.push("close"),
    });
    return { clock, did, world, drain };
  }

  it("asked gently, waits for the load balancer although nobody is there", async () => {
    const { clock, did, drain } = make();
    const done = drain.withdraw();
    void drain.withdraw();
    clock.advance(9_999);
    expect([drain.phase, did]).toEqual(["withdrawing", ["begin"]]);
    clock.advance(1);
    expect([drain.phase, did]).toEqual(["over", ["begin", "close"]]);
    await done;
    expect(clock.pending).toBe(0);
  });

  it("by a signal is over at once when nobody is there, also after it was asked gently", async () => {
    for (const gently of [false, true]) {
      const { did, drain, clock } = make();
      if (gently) void drain.withdraw();
      await drain.stop("SIGTERM");
      expect([drain.phase, did]).toEqual(["over", ["begin", "close"]]);
      expect(clock.pending).toBe(0);
    }
  });

  it("waits for clients and for a write, and no longer than its time", async () => {
    const { clock, world, drain } = make();
    Object.assign(world, { held: 1, spliced: 1, writing: true });
    const done = drain.stop("SIGTERM");
    Object.assign(world, { held: 0, spliced: 0 });
    drain.changed();
    expect(drain.phase).toBe("finishing");
    clock.advance(75_000);
    expect(drain.phase).toBe("over");
    await done;
    await drain.stop("SIGTERM");
    await drain.withdraw();
  });
});
