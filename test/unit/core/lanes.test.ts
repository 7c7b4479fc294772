import { describe, expect, test } from "vitest";
import { Bench, minutes, seconds } from "../../support/core-bench.ts";

describe("a port's lane may be open", () => {
  test("while the target is awake, the port is proved and nobody waits there", () => {
    const bench = Bench.awake();
    expect(bench.lanes).toEqual([22]);
    expect(bench.arrive().lanes).toEqual([]);
    expect(bench.splice().lanes).toEqual([22]);
    expect(bench.leave("spliced").lanes).toEqual([22]);
  });

  test("not for a target that is suspended, waking, starting, or awake on another port only", () => {
    const bench = Bench.suspended({ ports: [22, 80] });
    expect(bench.lanes).toEqual([]);
    expect(bench.arrive(80).lanes).toEqual([]);
    expect(bench.written().lanes).toEqual([]);
    bench.probed("silent", 80).pass(seconds(1)).probed("answered", 80);
    expect(bench.take("open")).toEqual(["open 80"]);
    expect(bench.lanes).toEqual([]);
    expect(bench.splice(80).lanes).toEqual([80]);
  });

  test("not from the step on that decides to suspend", () => {
    const bench = Bench.suspending();
    expect(bench.lanes).toEqual([]);
    expect(bench.written().lanes).toEqual([]);
  });

  test("not while a suspend may land late", () => {
    const bench = Bench.suspending().writeFails("server").arrive();
    expect(bench.lanes).toEqual([]);
  });

  test("not once a client of the port came back from a target that was not there", () => {
    const bench = Bench.awake().arrive().send({ type: "returned", port: 22, failure: "refused" });
    expect(bench.lanes).toEqual([]);
  });
});

describe("clients of a lane", () => {
  test("keep the target awake as others do, however long", () => {
    const bench = Bench.awake().lane(1, { answered: true });
    bench.attend(() => "answered");
    bench.take();
    expect(bench.pass(minutes(60)).take()).toEqual([]);
    expect(bench.lanes).toEqual([22]);
  });

  test("begin the idle-hold anew when they leave", () => {
    const bench = Bench.awake().lane(2, { answered: true });
    bench.attend(() => "answered").pass(minutes(4));
    bench.lane(1, { left: true }).pass(minutes(4));
    bench.lane(0, { left: true });
    bench.take();
    expect(bench.pass(minutes(5) - 1).take()).toEqual([]);
    expect(bench.pass(1).take()).toEqual(["write suspend 1"]);
  });

  test("that came and went between two looks begin it anew, too", () => {
    const bench = Bench.awake();
    bench.attend(() => "answered").pass(minutes(4));
    bench.lane(0, { answered: true, left: true });
    bench.take();
    expect(bench.pass(minutes(5) - 1).take()).toEqual([]);
    expect(bench.pass(1).take()).toEqual(["write suspend 1"]);
  });

  test("cancel a suspend that waits for the read it is decided on", () => {
    const bench = Bench.awake().idle(1).pass(1).lane(1).read();
    expect(bench.take()).toEqual([]);
    expect(bench.pass(seconds(1)).phase).toBe("awake");
  });

  test("have the target woken that somebody else suspended under them", () => {
    const bench = Bench.awake().lane(1, { answered: true });
    bench
      .attend(() => "answered")
      .pass(seconds(10))
      .alone();
    bench.take();
    bench.pass(seconds(15)).read({ suspended: true });
    expect(bench.take("write")).toEqual(["write un-suspend"]);
    expect(bench.lanes).toEqual([]);
  });
});
