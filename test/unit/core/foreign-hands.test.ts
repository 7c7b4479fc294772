import { describe, expect, test } from "vitest";
import { Bench, minutes, seconds } from "../../support/core-bench.ts";

/** A session is open, and calls are answered as they come. */
function session(): Bench {
  const bench = Bench.awake()
    .arrive()
    .splice()
    .attend(() => "answered");
  bench.take();
  return bench;
}

describe("the watch", () => {
  test("reads every 15 s with demand, every 60 s without", () => {
    expect(session().pass(minutes(2)).take("read")).toHaveLength(8);
    expect(
      Bench.suspended()
        .attend(() => "silent")
        .pass(minutes(2))
        .take("read"),
    ).toHaveLength(2);
  });
});

describe("a foreign suspend under clients", () => {
  test("is undone by the next watch", () => {
    const bench = session().change({ suspended: true }).pass(seconds(15));
    expect(bench.take()).toEqual(["write un-suspend"]);
    expect(bench.notes()).toContain("foreign_suspend_undone");
  });

  test("is obeyed, visibly, the second time within ten minutes", () => {
    const bench = session().change({ suspended: true }).pass(seconds(15)).written().pass(minutes(5));
    bench.change({ suspended: true }).take();
    expect(bench.pass(seconds(15)).take()).toEqual([]);
    expect(bench.notes()).toContain("foreign_suspend_obeyed");
    expect(bench.conditions()).toContain("foreign_suspend_obeyed");
    bench.attend(() => "silent");
    expect(bench.arrive().pass(minutes(9.9)).take()).toEqual([]);
    expect(bench.pass(minutes(0.1)).take()).toEqual(["write un-suspend"]);
  });

  test("undoing it after those ten minutes counts, too", () => {
    const bench = session().change({ suspended: true }).pass(seconds(15)).written().pass(minutes(5));
    bench.change({ suspended: true }).pass(seconds(15)).pass(minutes(10)).written().take();
    bench.change({ suspended: true });
    expect(bench.pass(minutes(1)).take()).toEqual([]);
    expect(bench.conditions()).toContain("foreign_suspend_obeyed");
  });

  test("is undone again once ten minutes have passed", () => {
    const bench = session().change({ suspended: true }).pass(seconds(15)).written().pass(minutes(10));
    bench.change({ suspended: true }).take();
    expect(bench.pass(seconds(15)).take("write")).toEqual(["write un-suspend"]);
  });

  test("ends with the person's own un-suspend", () => {
    const bench = session().change({ suspended: true }).pass(seconds(15)).written();
    bench.change({ suspended: true }).pass(seconds(15)).change({ suspended: false }).pass(seconds(15));
    expect(bench.conditions()).not.toContain("foreign_suspend_obeyed");
    expect(bench.arrive().pass(minutes(2)).take("open")).toContain("open 22");
  });

  test("with nobody there is left, and the next client wakes the target as ever", () => {
    const bench = Bench.awake()
      .attend(() => "answered")
      .change({ suspended: true })
      .pass(minutes(1));
    expect(bench.take()).toEqual([]);
    expect(bench.phase).toBe("suspended");
    expect(bench.arrive().take()).toEqual(["write un-suspend"]);
  });
});

describe("a foreign wake", () => {
  test("is noticed, and ends in a suspend like any other", () => {
    const bench = Bench.suspended()
      .attend(() => "answered")
      .change({ suspended: false })
      .pass(minutes(2));
    expect(bench.notes()).toContain("foreign_wake");
    expect(bench.phase).toBe("awake");
    expect(bench.pass(minutes(5)).take("write")).toEqual(["write suspend 2"]);
  });

  test("serves clients that are waiting although the proxy holds back", () => {
    const bench = Bench.with({}, { suspended: true, mode: "paused" })
      .arrive()
      .attend(() => "silent");
    expect(bench.pass(seconds(60)).take()).toEqual([]);
    bench.attend(() => "answered").change({ suspended: false });
    expect(bench.pass(seconds(1)).take()).toEqual(["open 22"]);
  });

  test("a read from before it does not undo what a probe has shown", () => {
    const bench = Bench.with({}, { suspended: true, mode: "paused" })
      .arrive()
      .probed("silent")
      .pass(seconds(15));
    const before = bench.workload;
    bench.change({ suspended: false }).probed("answered");
    expect(bench.phase).toBe("awake");
    bench.send({ type: "read", snapshot: before });
    expect(bench.phase).toBe("awake");
  });
});

describe("an older copy of the workload", () => {
  test("is not taken for a foreign wake where the suspend's answer held no version", () => {
    const bench = Bench.suspending()
      .change({ graceMs: seconds(30) })
      .writeFails("invalid");
    expect(bench.take()).toEqual(["write suspend unversioned"]);
    // Version 2, from before the suspend, which made it 3; all that the proxy can tell is that it is 2 at least.
    const before = bench.workload;
    bench.land().send({ type: "written", version: undefined }).pass(seconds(1)).take();
    bench.send({ type: "read", snapshot: before });
    expect(bench.phase).toBe("suspended");
    expect(bench.notes()).not.toContain("foreign_wake");
    expect(bench.pass(seconds(1)).take("read")).toEqual(["read"]);
  });

  test("is not believed because the workload was said to be missing in between", () => {
    const bench = Bench.suspending();
    const before = bench.workload;
    bench.written().arrive().writeFails("missing").take();
    expect(bench.phase).toBe("unknown");
    bench.pass(seconds(1)).send({ type: "read", snapshot: before });
    expect(bench.phase).toBe("unknown");
    expect(bench.pass(seconds(1)).read().take("write")).toEqual(["write un-suspend"]);
  });
});

describe("the tag scale-to-zero/mode", () => {
  test("paused: nothing is touched, whatever the demand", () => {
    const asleep = Bench.with({}, { suspended: true, mode: "paused" })
      .attend(() => "silent")
      .arrive();
    expect(asleep.pass(minutes(30)).take()).toEqual([]);
    const awake = Bench.with({}, { suspended: false, mode: "paused" }).attend(() => "answered");
    expect(awake.pass(minutes(60)).take()).toEqual([]);
    expect(awake.conditions()).toContain("paused");
  });

  test("paused is read with the watch, and ends with it", () => {
    const bench = Bench.awake()
      .attend(() => "answered")
      .change({ mode: "paused" })
      .pass(minutes(10));
    expect(bench.take()).toEqual([]);
    bench.change({ mode: "normal" });
    expect(bench.pass(minutes(1)).take()).toEqual(["write suspend 3"]);
  });

  test("a foreign suspend while paused is nobody's business", () => {
    const bench = session().change({ mode: "paused", suspended: true }).pass(minutes(1));
    expect(bench.take()).toEqual([]);
    expect(bench.state.foreign.undoneAt).toBeUndefined();
  });

  test("always-on: woken, but never suspended", () => {
    const bench = Bench.with({}, { suspended: true, mode: "always-on" }).arrive();
    expect(bench.take()).toEqual(["write un-suspend"]);
    bench
      .written()
      .leave("waiting")
      .attend(() => "answered");
    expect(bench.pass(minutes(60)).take()).toEqual([]);
    expect(bench.conditions()).toContain("always_on");
  });
});

describe("another scaler", () => {
  test("is reported, and the target left alone", () => {
    const bench = Bench.with({}, { suspended: false, otherScaler: "keda" })
      .attend(() => "answered")
      .arrive();
    expect(bench.pass(seconds(1)).take()).toEqual(["open 22"]);
    bench.splice().leave("spliced");
    expect(bench.pass(minutes(60)).take()).toEqual([]);
    expect(bench.notes()).toContain("other_scaler");
    expect(bench.conditions()).toContain("other_scaler");
  });
});

describe("deletion and re-creation of the target", () => {
  test("a deleted target is neither woken nor suspended", () => {
    const bench = Bench.awake().pass(minutes(1)).readFails("missing");
    expect(bench.phase).toBe("unknown");
    bench.arrive().take();
    for (let tries = 0; tries < 20; tries += 1) {
      bench.pass(seconds(8));
      if (bench.state.read) bench.readFails("missing");
    }
    expect(bench.take()).toEqual([]);
    expect(bench.conditions()).toContain("reads_failing");
  });

  test("created anew it is served like any other, and suspended when idle", () => {
    const bench = Bench.awake().pass(minutes(1)).readFails("missing").arrive().pass(seconds(1));
    bench.workload = { ...bench.workload, id: "two", version: 1, suspended: true };
    expect(bench.read().take()).toEqual(["write un-suspend"]);
    bench
      .written()
      .attend(() => "silent")
      .pass(seconds(3));
    bench
      .attend(() => "answered")
      .pass(500)
      .splice()
      .leave("spliced")
      .take();
    expect(bench.pass(minutes(5)).take()).toEqual(["write suspend 2"]);
  });

  test("one that is replaced between two reads is noticed by its id", () => {
    const bench = Bench.awake().pass(minutes(1)).read({ id: "two", version: 0, suspended: true });
    expect(bench.notes()).toContain("target_recreated");
    expect(bench.phase).toBe("suspended");
  });

  test("a suspend under way when it is gone decides nothing", () => {
    const bench = Bench.suspending().writeFails("missing");
    expect(bench.phase).toBe("unknown");
    bench.pass(seconds(30));
    bench.workload = { ...bench.workload, id: "two", version: 1, suspended: false };
    bench
      .read()
      .attend(() => "answered")
      .take();
    expect(bench.pass(minutes(8)).take()).toEqual(["write suspend 1"]);
  });
});
