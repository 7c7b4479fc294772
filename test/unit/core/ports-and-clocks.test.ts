import { describe, expect, test } from "vitest";
import { Bench, minutes, seconds } from "../../support/core-bench.ts";

const twoPorts = { ports: [22, 80] };

describe("ports are proved one by one", () => {
  test("a port that boots later neither releases, drops nor delays the other's clients", () => {
    const bench = Bench.suspended(twoPorts).arrive(22).arrive(80).written();
    bench.probed("silent", 22).probed("silent", 80).pass(500).take();
    expect(bench.probed("answered", 22).take()).toEqual(["open 22"]);
    bench.splice(22).pass(seconds(20)).take();
    expect(bench.report).toMatchObject({ phase: "awake", held: 1, spliced: 1 });
    bench.attend((port) => (port === 80 ? "answered" : "silent"));
    expect(bench.pass(seconds(1)).take()).toEqual(["open 80"]);
  });

  test("only ports with held clients are probed", () => {
    const bench = Bench.suspended(twoPorts)
      .arrive(80)
      .written()
      .attend(() => "silent");
    const looks = bench.pass(seconds(20)).take("probe");
    expect(new Set(looks)).toEqual(new Set(["probe 80"]));
  });

  test("with none held, the first", () => {
    const bench = Bench.suspended(twoPorts)
      .arrive(80)
      .leave("waiting", 80)
      .written()
      .attend(() => "silent");
    bench.take();
    expect(new Set(bench.pass(seconds(20)).take("probe"))).toEqual(new Set(["probe 22"]));
  });

  test("a port that stays unproved while the workload reads un-suspended causes no write", () => {
    const bench = Bench.awake(twoPorts)
      .arrive(80)
      .attend((port) => (port === 22 ? "answered" : "refused"));
    bench.take();
    expect(bench.pass(minutes(10)).take()).toEqual([]);
  });

  test("demand on one port keeps the target awake for all", () => {
    const bench = Bench.awake(twoPorts)
      .arrive(22)
      .splice(22)
      .attend(() => "answered");
    for (let visits = 0; visits < 20; visits += 1) {
      bench.pass(minutes(1)).arrive(80).splice(80).leave("spliced", 80);
    }
    expect(bench.take("write")).toEqual([]);
  });

  test("a client's own failed connection only unproves its own port", () => {
    const bench = Bench.awake(twoPorts).arrive(80).probed("answered", 80).take() && Bench.awake(twoPorts);
    bench.arrive(22).arrive(80).probed("answered", 80).take();
    bench.send({ type: "returned", port: 80, failure: "reset" });
    expect(bench.take("open")).toEqual([]);
    expect(bench.arrive(22).take()).toEqual(["open 22"]);
  });
});

describe("one warm client, one connection", () => {
  test("a mute connection stays, and something looks beside it", () => {
    const bench = Bench.awake().arrive();
    bench.take();
    bench.pass(seconds(2)).send({ type: "mute", port: 22 });
    expect(bench.take("recall", "read", "probe")).toEqual(["probe 22", "read"]);
  });

  test("it is taken back when a connection begun later is answered", () => {
    const bench = Bench.awake().arrive().pass(seconds(2)).send({ type: "mute", port: 22 }).pass(100);
    bench.take();
    expect(bench.probed("answered").take()).toEqual([`recall 22 ${seconds(2)}`]);
    expect(bench.send({ type: "returned", port: 22, failure: "recalled" }).take()).toEqual(["open 22"]);
  });

  test("a probe begun before it does not end the look-out", () => {
    const bench = Bench.awake().arrive().pass(seconds(2)).send({ type: "mute", port: 22 });
    bench.send({ type: "mute", port: 22 }).pass(seconds(2)).take();
    bench.send({ type: "mute", port: 22 }).probed("answered");
    expect(bench.state.ports[0]?.mute).toBe(true);
  });

  test("it is taken back when the workload reads suspended", () => {
    const bench = Bench.awake().arrive().pass(seconds(2)).send({ type: "mute", port: 22 });
    bench.take();
    expect(bench.read({ suspended: true }).take()).toEqual([
      `recall 22 ${seconds(2) + 1}`,
      "write un-suspend",
    ]);
  });

  test("any number of mute connections cause one read a second", () => {
    const bench = Bench.awake().attend(() => "silent");
    for (let clients = 0; clients < 50; clients += 1) bench.arrive();
    bench.pass(seconds(2)).take();
    for (let clients = 0; clients < 50; clients += 1) bench.pass(20).send({ type: "mute", port: 22 });
    expect(bench.take("read").length).toBeLessThanOrEqual(2);
  });
});

describe("the idle clock", () => {
  test("an awake target without clients is suspended once, not before its time", () => {
    const bench = Bench.awake().attend(() => "answered");
    expect(bench.pass(minutes(5) - 1).take()).toEqual([]);
    expect(bench.pass(1).take()).toEqual(["write suspend 1"]);
    bench.written();
    expect(bench.pass(minutes(60)).take()).toEqual([]);
  });

  test("short connections restart it", () => {
    const bench = Bench.awake().attend(() => "answered");
    for (let visits = 0; visits < 10; visits += 1) bench.pass(minutes(4)).arrive().splice().leave("spliced");
    expect(bench.take("write")).toEqual([]);
    expect(bench.pass(minutes(5)).take()).toEqual(["write suspend 1"]);
  });

  test("it counts from readiness when the clients left before", () => {
    const bench = Bench.suspended()
      .arrive()
      .leave("waiting")
      .written()
      .attend(() => "silent");
    bench
      .pass(seconds(30))
      .attend(() => "answered")
      .pass(seconds(1))
      .take();
    expect(bench.phase).toBe("awake");
    expect(bench.pass(minutes(5) - seconds(2)).take()).toEqual([]);
    expect(bench.pass(seconds(2)).take()).toEqual(["write suspend 2"]);
  });

  test("after its own start the proxy waits for the replica before it to drain", () => {
    const bench = Bench.awake({ ownGraceMs: minutes(10) }).attend(() => "answered");
    expect(bench.pass(minutes(10) + seconds(14)).take()).toEqual([]);
    expect(bench.pass(seconds(1)).take()).toEqual(["write suspend 1"]);
  });

  test("a decision is taken on a read made for it", () => {
    const bench = Bench.awake().idle(1);
    bench.take();
    expect(bench.pass(1).take("write", "read")).toEqual(["read"]);
    expect(bench.read().take()).toEqual(["write suspend 1"]);
  });
});

describe("starting", () => {
  test("a wake attempt goes on probing to its end though its clients have left", () => {
    const bench = Bench.suspended()
      .arrive()
      .leave("waiting")
      .written()
      .attend(() => "silent");
    bench.take();
    expect(bench.pass(seconds(60)).take("probe").length).toBeGreaterThan(100);
  });

  test("after that something looks every ten seconds", () => {
    const bench = Bench.suspended()
      .arrive()
      .leave("waiting")
      .written()
      .attend(() => "silent")
      .pass(seconds(130));
    bench.take();
    expect(bench.pass(minutes(1)).take("probe")).toHaveLength(6);
  });

  test("the end of an attempt ends no hold: the next one begins after a pause", () => {
    const bench = Bench.suspended()
      .arrive()
      .written()
      .attend(() => "silent")
      .pass(seconds(120));
    expect(bench.notes()).toContain("wake_timeout");
    expect(bench.take("drop", "write")).toEqual(["write un-suspend"]);
    expect(bench.pass(seconds(1)).state.attempt).toMatchObject({ number: 2, nextAt: undefined });
  });

  test("the end of an attempt reads whether the target has to be un-suspended again", () => {
    const bench = Bench.suspended()
      .arrive()
      .written()
      .attend(() => "silent")
      .pass(seconds(100));
    bench.take();
    bench.change({ suspended: true }).pass(seconds(20));
    expect(bench.take("write")).toEqual(["write un-suspend"]);
  });

  test("a target that never becomes ready is suspended 30 minutes and an idle-hold after its un-suspend", () => {
    const bench = Bench.suspended()
      .arrive()
      .leave("waiting")
      .written()
      .attend(() => "silent");
    bench.take();
    expect(bench.pass(minutes(35) - seconds(1)).take()).toEqual([]);
    expect(bench.pass(seconds(2)).take()).toEqual(["write suspend 2"]);
    expect(bench.notes()).toContain("never_ready");
  });

  test("neither arrivals nor attempts restart those 30 minutes", () => {
    const bench = Bench.suspended()
      .arrive()
      .leave("waiting")
      .written()
      .attend(() => "silent");
    for (let visits = 0; visits < 29; visits += 1) bench.pass(minutes(1)).arrive().leave("waiting");
    bench.take();
    bench.notes();
    bench.pass(minutes(1));
    expect(bench.notes()).toContain("never_ready");
  });
});
