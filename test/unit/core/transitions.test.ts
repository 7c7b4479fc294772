import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { enter, TRANSITIONS } from "../../../proxy-image/src/core/phases.ts";
import { Bench, minutes, seconds } from "../../support/core-bench.ts";
import { stories } from "../../support/core-stories.ts";
import { tell } from "../../support/core-world.ts";

const seen = vi.hoisted(() => new Set<string>());

vi.mock("../../../proxy-image/src/core/phases.ts", async (original) => {
  const phases = await original<typeof import("../../../proxy-image/src/core/phases.ts")>();
  return {
    ...phases,
    enter: (state: Parameters<typeof phases.enter>[0], to: Parameters<typeof phases.enter>[1]) => {
      const from = state.phase;
      phases.enter(state, to);
      if (from !== to) seen.add(`${from} → ${to}`);
    },
  };
});

/** Transitions too rare for stories to be counted on. */
function rarities(): void {
  // A target that is gone, at every stage of its life.
  Bench.suspended().pass(minutes(1)).readFails("missing");
  Bench.suspended().arrive().writeFails("missing");
  Bench.suspended().arrive().written().pass(seconds(15)).readFails("missing");
  Bench.suspending().writeFails("missing");
  // Nobody waits any more for an un-suspend that nothing was ever read for.
  const unread = new Bench().send({ type: "tick" }).arrive().readFails("denied").probed("silent");
  unread.leave("waiting").writeFails("denied");
  // A client held back by a pause is answered by a target that somebody woke.
  Bench.with({}, { suspended: true, mode: "paused" }).arrive().probed("silent").pass(500).probed("answered");
  // A suspend of a target that never became ready is refused.
  Bench.with({}, { suspended: false })
    .attend(() => "silent")
    .pass(minutes(35))
    .writeFails("denied");
}

describe("the table of transitions", () => {
  test("is what the core does: every row is seen, and no other change", { timeout: 60_000 }, () => {
    rarities();
    fc.assert(
      fc.property(stories, (story) => {
        tell(story);
      }),
      { numRuns: 1_000, seed: 1 },
    );
    const rows = TRANSITIONS.map(({ from, to }) => `${from} → ${to}`);
    expect([...seen].sort()).toEqual(rows.sort());
  });

  test("has each change once", () => {
    const rows = TRANSITIONS.map(({ from, to }) => `${from} → ${to}`);
    expect(new Set(rows).size).toBe(rows.length);
  });

  test("is enforced: any other change is a fault of the core", () => {
    expect(() => enter({ phase: "suspended" }, "suspending")).toThrow(
      "no transition from suspended to suspending",
    );
  });
});
