import { describe, expect, test } from "vitest";
import type { ProbeOutcome, TargetConfig } from "../../../proxy-image/src/core/types.ts";
import { Bench, minutes, seconds } from "../../support/core-bench.ts";

/** A client waits for a target that was just un-suspended, and every look finds this. */
function starting(found: ProbeOutcome, changes: Partial<TargetConfig> = {}): Bench {
  const bench = Bench.suspended({ wakeTimeoutMs: minutes(10), ...changes });
  for (const port of bench.config.ports) bench.arrive(port);
  bench.written().attend(() => found);
  bench.take();
  return bench;
}

const looksIn = (bench: Bench, ms: number): number => bench.pass(ms).take("probe").length;

describe("a port where nobody listens", () => {
  test.each(["refused", "closed", "reset"] as const)(
    "is looked at again soon once a look was %s",
    (found) => {
      const looks = looksIn(starting(found), seconds(1));
      expect(looks).toBeGreaterThanOrEqual(19);
      expect(looks).toBeLessThanOrEqual(21);
    },
  );

  test.each(["silent", "unready", "unreachable"] as const)(
    "is looked at at the poll interval once a look was %s",
    (found) => {
      expect(looksIn(starting(found), seconds(10))).toBeLessThanOrEqual(20);
    },
  );

  test("is looked at less often the longer that goes on", () => {
    const bench = starting("refused").pass(seconds(31));
    bench.take();
    expect(looksIn(bench, seconds(10))).toBeLessThanOrEqual(101);
    bench.pass(seconds(80)).take();
    expect(looksIn(bench, seconds(10))).toBeLessThanOrEqual(51);
  });

  test("shares that pace with the target's other ports", () => {
    const bench = starting("refused", { ports: [22, 80, 443] });
    const looks = bench.pass(seconds(3)).take("probe");
    expect(looks.length).toBeLessThanOrEqual(63);
    for (const port of bench.config.ports) {
      expect(looks.filter((look) => look === `probe ${port}`).length).toBeGreaterThanOrEqual(19);
    }
  });

  test("is looked at less often where many targets share the processor", () => {
    expect(looksIn(starting("refused", { targets: 4 }), seconds(1))).toBeGreaterThanOrEqual(19);
    expect(looksIn(starting("refused", { targets: 12 }), seconds(3))).toBeLessThanOrEqual(21);
    expect(looksIn(starting("refused", { targets: 1_000 }), seconds(10))).toBeGreaterThanOrEqual(19);
  });

  test("is not looked at again before the last look is over, but for the poll interval", () => {
    const bench = Bench.suspended().arrive().written().probed("refused");
    bench.take();
    expect(looksIn(bench, 499)).toBe(1);
    expect(looksIn(bench, seconds(1))).toBe(2);
  });

  test("is looked at in no hurry where nobody waits", () => {
    const bench = Bench.suspended().arrive().leave("waiting").written();
    bench.attend(() => "refused").take();
    expect(looksIn(bench, seconds(10))).toBeLessThanOrEqual(20);
  });

  test("is looked at soon again in the next generation, however long the last one took", () => {
    const bench = starting("refused")
      .pass(minutes(5))
      .change({ suspended: true })
      .pass(seconds(15))
      .written()
      .pass(500);
    bench.take();
    expect(looksIn(bench, seconds(1))).toBeGreaterThanOrEqual(19);
  });

  test("costs no look on the port of a client that is let through", () => {
    const bench = starting("refused", { ports: [22, 80] });
    bench.attend((port) => (port === 22 ? "answered" : "refused")).pass(200);
    bench.take();
    expect(new Set(bench.pass(seconds(1)).take("probe"))).toEqual(new Set(["probe 80"]));
  });
});

/** Clients of a target behind a mesh that is silent until the target is up, and wakes that take as long as is said. */
class Wakes {
  readonly bench = Bench.suspended();
  private upAt = Number.POSITIVE_INFINITY;

  constructor() {
    this.bench.attend(() => (this.bench.now >= this.upAt ? "answered" : "silent"));
  }

  /** From the target's first possible answer to the client's connection to it, and the looks it took. */
  wake(bootMs: number): { overheadMs: number; looks: number } {
    const { bench } = this;
    // Long enough after the last suspend for any answer to be a proof.
    bench.pass(minutes(2)).arrive().pass(100).take();
    bench.written();
    this.upAt = bench.now + bootMs;
    const deeds = [];
    while (bench.phase !== "awake") deeds.push(...bench.pass(1).take("probe"));
    const overheadMs = bench.now - this.upAt;
    bench.splice().leave("spliced").pass(bench.config.idleHoldMs);
    this.upAt = Number.POSITIVE_INFINITY;
    bench.written();
    return { overheadMs, looks: deeds.length };
  }

  /** The overheads of wakes that boot at this and so much sooner and later. */
  overheads(bootMs: number, byMs: readonly number[]): number[] {
    return byMs.map((ms) => this.wake(bootMs + ms).overheadMs);
  }
}

const worst = (values: readonly number[]) => Math.max(...values);

describe("a port whose boot is known from earlier wakes", () => {
  test("is found up within a tenth of a second where it boots alike", () => {
    const wakes = new Wakes();
    expect(wakes.wake(seconds(3.2)).overheadMs).toBeLessThanOrEqual(500);
    wakes.overheads(seconds(3.2), [0, 0, 0]);
    const learnt = wakes.overheads(seconds(3.2), [0, 20, -30, 50, -60, 10]);
    expect(worst(learnt)).toBeLessThanOrEqual(60);
  });

  test("is found up soon where its boots vary", () => {
    const wakes = new Wakes();
    const vary = [0, 300, -200, 150, -300, 80, 200, -120, -250, 30];
    wakes.overheads(seconds(8), vary);
    const learnt = wakes.overheads(seconds(8), vary).sort((a, b) => a - b);
    expect(learnt[learnt.length / 2]).toBeLessThanOrEqual(100);
    expect(worst(learnt)).toBeLessThanOrEqual(500);
  });

  test("keeps what is known through one odd boot", () => {
    const wakes = new Wakes();
    wakes.overheads(seconds(3.2), [0, 0, 0, 0, seconds(60)]);
    expect(wakes.wake(seconds(3.2)).overheadMs).toBeLessThanOrEqual(60);
  });

  test("is learnt anew when its boots change for good", () => {
    const wakes = new Wakes();
    wakes.overheads(seconds(3.2), [0, 0, 0, 0, 0]);
    wakes.overheads(seconds(9.1), [0, 0, 0, 0]);
    expect(wakes.wake(seconds(9.1)).overheadMs).toBeLessThanOrEqual(100);
  });

  test("costs eight looks more, and none is missing before or after", () => {
    const wakes = new Wakes();
    const { looks } = wakes.wake(seconds(3.2));
    wakes.overheads(seconds(3.2), [0, 0, 0]);
    expect(wakes.wake(seconds(3.2)).looks).toBeLessThanOrEqual(looks + 8);
    // The mesh holds each of the extra looks for its whole window: the others go on all the same.
    const late = wakes.wake(seconds(4.3));
    expect(late.overheadMs).toBeLessThanOrEqual(500);
    expect(late.looks).toBeLessThanOrEqual(looks + 8 + 3);
  });

  test("is not known from a wake that somebody else made", () => {
    const bench = Bench.suspended().attend(() => "answered");
    bench.change({ suspended: false }).pass(minutes(2));
    expect(bench.phase).toBe("awake");
    expect(bench.state.ports[0]?.boots).toEqual([]);
  });

  test("is not known from a wake that was looked at too seldom to tell", () => {
    const bench = Bench.suspended().arrive().leave("waiting").written();
    bench.attend(() => "silent").pass(minutes(3));
    bench.attend(() => "answered").pass(seconds(20));
    expect(bench.phase).toBe("awake");
    expect(bench.state.ports[0]?.boots).toEqual([]);
  });
});
