import { describe, expect, test } from "vitest";
import type { FailureReason } from "../../../proxy-image/src/core/types.ts";
import { Bench, minutes, seconds } from "../../support/core-bench.ts";

const failure = (reason: FailureReason) => ({ reason, message: `because of ${reason}` });

/** Woken for a client, and the deployment has just said that it can't come. */
function failed(reason: FailureReason = "image_pull"): Bench {
  const bench = Bench.suspended()
    .arrive()
    .written()
    .attend(() => "silent")
    .pass(seconds(5))
    .alone();
  bench.take();
  return bench.status({ failure: failure(reason) });
}

describe("starting or broken", () => {
  test.each(["image_pull", "crash_loop", "quota", "unschedulable"] as const)(
    "%s ends the hold early, with that reason",
    (reason) => {
      const bench = failed(reason);
      expect(bench.take()).toEqual([`drop ${reason}`]);
      expect(bench.notes()).toContain("target_failed");
      expect(bench.report.conditions).toContainEqual(
        expect.objectContaining({ type: "target_failing", reason: `${reason}: because of ${reason}` }),
      );
    },
  );

  test("a status of an older version says nothing of this generation", () => {
    const bench = Bench.suspended().arrive().written();
    bench.take();
    expect(bench.status({ failure: failure("crash_loop"), lastProcessedVersion: 1 }).take()).toEqual([]);
  });

  test("clients of the next moments are turned away at once, and nothing is done for them", () => {
    const bench = failed().leave("waiting").pass(seconds(1));
    bench.take();
    expect(bench.arrive().take("drop", "write", "read-status")).toEqual(["drop image_pull"]);
  });

  test("the one that comes after the pause waits for how it goes now", () => {
    const bench = failed()
      .leave("waiting")
      .attend(() => "silent")
      .pass(seconds(6))
      .alone();
    bench.take();
    expect(bench.arrive().take("drop", "read-status")).toEqual(["read-status"]);
    expect(bench.status({ failure: failure("image_pull") }).take()).toEqual(["drop image_pull"]);
  });

  test("a failure that the platform takes back ends nobody's hold any more", () => {
    const bench = failed()
      .leave("waiting")
      .attend(() => "silent")
      .pass(seconds(6))
      .alone()
      .arrive();
    bench.take();
    expect(bench.status({}).take()).toEqual([]);
    expect(bench.conditions()).toEqual([]);
    expect(bench.arrive().take("drop")).toEqual([]);
  });

  test("a suspended target that failed is not woken for clients that are turned away", () => {
    const bench = failed()
      .leave("waiting")
      .attend(() => "silent")
      .pass(minutes(5))
      .written();
    expect(bench.phase).toBe("suspended");
    bench.arrive().written().pass(seconds(6)).leave("waiting");
    bench.take();
    bench.alone();
    if (bench.state.status) bench.status({ failure: failure("image_pull") });
    expect(bench.take("write")).toEqual([]);
  });

  test("clients that keep coming do not keep a failed target up", () => {
    const bench = failed()
      .leave("waiting")
      .attend(
        () => "silent",
        () => ({
          lastProcessedVersion: 2,
          ready: false,
          failure: failure("image_pull"),
        }),
      );
    bench.take();
    let suspendedAfter = 0;
    for (let storm = 1; storm <= 400 && suspendedAfter === 0; storm += 1) {
      bench.pass(seconds(1)).arrive();
      if (bench.take("drop").length === 0) bench.pass(1);
      bench.leave("waiting");
      if (bench.phase === "suspending") suspendedAfter = storm;
    }
    expect(suspendedAfter).toBeGreaterThan(290);
    expect(suspendedAfter).toBeLessThan(310);
  });

  test("after repeated failed generations the idle-hold shrinks to nothing, until one succeeds", () => {
    const bench = failed()
      .leave("waiting")
      .attend(() => "silent")
      .pass(minutes(5))
      .written()
      .pass(minutes(2))
      .alone();
    bench.take();
    bench
      .arrive()
      .written()
      .attend(() => "silent")
      .pass(seconds(5))
      .alone();
    bench.status({ failure: failure("image_pull") }).leave("waiting");
    expect(bench.take()).toEqual(["write un-suspend", "drop image_pull"]);
    expect(
      bench
        .attend(() => "silent")
        .pass(seconds(1))
        .take(),
    ).toEqual(["write suspend 4"]);

    bench
      .written()
      .pass(minutes(2))
      .arrive()
      .written()
      .pass(seconds(10))
      .attend(() => "answered")
      .pass(seconds(1));
    expect(bench.phase).toBe("awake");
    expect(bench.report.conditions).toEqual([]);
    bench.splice().leave("spliced").take();
    expect(bench.pass(minutes(5) - seconds(1)).take()).toEqual([]);
    expect(bench.pass(seconds(1)).take()).toEqual(["write suspend 6"]);
  });

  test("a port that is proved ends the failure", () => {
    const bench = failed()
      .leave("waiting")
      .attend(() => "answered")
      .pass(seconds(6))
      .arrive();
    expect(bench.phase).toBe("awake");
    expect(bench.take()).toContain("open 22");
    expect(bench.conditions()).toEqual([]);
  });
});
