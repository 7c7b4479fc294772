import { describe, expect, test } from "vitest";
import { Bench, minutes, seconds } from "../../support/core-bench.ts";

describe("the proxy's own suspend never hits a session", () => {
  test("the gate closes in the step that decides: a client of the next moment waits", () => {
    const bench = Bench.suspending().arrive();
    expect(bench.phase).toBe("suspending");
    expect(bench.take()).toEqual([]);
    expect(bench.report.held).toBe(1);
  });

  test("that client is woken for once the suspend is accepted, and served by the new generation", () => {
    const bench = Bench.suspending().arrive().written();
    expect(bench.take()).toEqual(["write un-suspend"]);
    bench.written().probed("silent").pass(seconds(1)).probed("answered");
    expect(bench.take()).toEqual(["open 22"]);
  });

  test("no suspend follows while it is connected", () => {
    const bench = Bench.suspending()
      .arrive()
      .written()
      .written()
      .probed("silent")
      .pass(seconds(1))
      .probed("answered")
      .splice();
    bench.attend(() => "answered").take();
    bench.pass(minutes(60));
    expect(bench.take()).toEqual([]);
  });

  test("a client that is still being connected keeps the target awake like one that is spliced", () => {
    const bench = Bench.awake()
      .arrive()
      .attend(() => "answered");
    bench.take();
    expect(bench.pass(minutes(60)).take()).toEqual([]);
  });

  test("a client that arrives between the read for the decision and its answer cancels the suspend", () => {
    const bench = Bench.awake().idle(1).pass(1).arrive().read();
    expect(bench.take()).toEqual(["open 22"]);
  });
});

describe("one write at a time, and the latest intent wins", () => {
  test("a client that leaves again while the un-suspend is in flight causes no second write", () => {
    const bench = Bench.suspended().arrive().leave("waiting").arrive().leave("waiting");
    expect(bench.take()).toEqual(["write un-suspend"]);
    expect(bench.written().take()).toEqual([]);
    expect(bench.phase).toBe("starting");
  });

  test("a suspend carries the version that its decision read, an un-suspend none", () => {
    const bench = Bench.awake()
      .change({ graceMs: seconds(30) })
      .idle(0);
    expect(bench.take()).toEqual(["write suspend 2"]);
    expect(bench.written().arrive().take()).toEqual(["write un-suspend"]);
  });

  test("after a conflict the workload is read again and decided again", () => {
    const bench = Bench.suspending()
      .change({ graceMs: seconds(30) })
      .writeFails("conflict");
    expect(bench.phase).toBe("awake");
    expect(bench.pass(seconds(5)).take()).toEqual([]);
    expect(bench.read().take()).toEqual(["write suspend 2"]);
  });

  test("what the read after a conflict shows may be a veto", () => {
    const bench = Bench.suspending()
      .change({ mode: "always-on" })
      .writeFails("conflict")
      .pass(seconds(1))
      .read();
    expect(
      bench
        .attend(() => "answered")
        .pass(minutes(60))
        .take(),
    ).toEqual([]);
  });

  test("clients of before are let through at once when a suspend is refused", () => {
    expect(Bench.suspending().arrive().writeFails("denied").take()).toEqual(["open 22"]);
  });

  test("a platform that takes no version in the body is written to without, from then on", () => {
    const bench = Bench.suspending().writeFails("invalid");
    expect(bench.take()).toEqual(["write suspend unversioned"]);
    expect(bench.notes()).toContain("version_not_accepted");
    bench
      .written()
      .arrive()
      .written()
      .probed("silent")
      .pass(seconds(1))
      .probed("answered")
      .splice()
      .leave("spliced");
    bench.attend(() => "answered").take();
    expect(bench.pass(minutes(6)).take()).toEqual(["write suspend unversioned"]);
  });
});

describe("a suspend of unknown outcome", () => {
  test("is read after, and sent again if it did not land", () => {
    const bench = Bench.suspending().writeFails("server");
    expect(bench.pass(seconds(1)).take("read")).toEqual(["read"]);
    expect(bench.read().take()).toEqual(["write suspend 1"]);
    expect(bench.written().phase).toBe("suspended");
  });

  test("is read until it has been seen for 30 s", () => {
    const bench = Bench.suspending()
      .writeFails("timeout")
      .land()
      .attend(() => "silent");
    bench.take();
    expect(bench.pass(seconds(45)).take("read").length).toBeGreaterThanOrEqual(10);
    expect(bench.phase).toBe("suspended");
    expect(bench.pass(seconds(61)).take("read")).toHaveLength(1);
  });

  test("is followed by one accepted un-suspend when a client is there", () => {
    const bench = Bench.suspending().arrive().writeFails("timeout");
    expect(bench.take()).toEqual(["write un-suspend"]);
    expect(bench.written().phase).toBe("starting");
    expect(
      bench
        .attend(() => "answered")
        .pass(seconds(60))
        .take(),
    ).toEqual([]);
  });

  test("keeps the gate closed until an un-suspend is accepted, however ready the target looks", () => {
    const bench = Bench.suspending()
      .arrive()
      .writeFails("timeout")
      .writeFails("server")
      .pass(500)
      .writeFails("server")
      .pass(500)
      .read();
    expect(bench.phase).toBe("starting");
    bench.status({ ready: true }).probed("answered");
    expect(bench.phase).toBe("awake");
    expect(bench.take("open")).toEqual([]);
    expect(bench.pass(seconds(5)).take("write")).toEqual(["write un-suspend"]);
    // It is the next version: nothing landed in between.
    expect(bench.written().take()).toEqual(["open 22"]);
  });

  test("that lands under the un-suspend after it is undone, and is not taken for somebody else's", () => {
    const bench = Bench.suspending().arrive().writeFails("timeout").written();
    bench.change({ suspended: true }).pass(seconds(3)).take();
    expect(bench.read().take()).toEqual(["write un-suspend"]);
    expect(bench.notes()).toContain("late_suspend_undone");
    expect(bench.state.foreign.undoneAt).toBeUndefined();
  });

  test("proofs from before do not survive a version that has moved on by more than the un-suspend", () => {
    const bench = Bench.suspending()
      .arrive()
      .writeFails("timeout")
      .writeFails("timeout")
      .pass(seconds(1))
      .read();
    bench.status({ ready: true }).probed("answered").pass(seconds(1)).take();
    bench.change({ suspended: true }).written();
    expect(bench.state.ports[0]?.proved).toBe(false);
    expect(bench.take("open")).toEqual([]);
  });

  test("is not forgotten because the platform says for a moment that there is no target", () => {
    const bench = Bench.suspending().arrive().writeFails("timeout").writeFails("missing");
    expect(bench.phase).toBe("unknown");
    bench.pass(500).take();
    if (!bench.state.read) bench.pass(500);
    expect(bench.read().take("write", "open")).toEqual(["write un-suspend"]);
    expect(bench.status({ ready: true }).probed("answered").take("open")).toEqual([]);
  });

  test("is given up where somebody pauses the target, and clients are served if it runs", () => {
    const bench = Bench.suspending().writeFails("timeout").pass(seconds(1)).read({ mode: "paused" });
    expect(bench.phase).toBe("starting");
    bench
      .arrive()
      .attend(() => "answered")
      .take();
    expect(bench.pass(seconds(105)).take()).toEqual(["open 22"]);
  });
});

describe("draining", () => {
  test("no suspend follows, and one in flight is waited for", () => {
    const bench = Bench.suspending().send({ type: "drain" });
    expect(bench.state.write).toBeDefined();
    bench.writeFails("server").pass(seconds(1)).read();
    expect(
      bench
        .attend(() => "answered")
        .pass(minutes(60))
        .take(),
    ).toEqual([]);
  });

  test("held clients are still woken for", () => {
    const bench = Bench.suspended().send({ type: "drain" }).arrive();
    expect(bench.take()).toEqual(["write un-suspend"]);
  });
});
