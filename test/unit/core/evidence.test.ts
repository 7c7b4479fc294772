import { describe, expect, test } from "vitest";
import { Bench, minutes, seconds } from "../../support/core-bench.ts";

/** Suspended by this proxy a moment ago with a grace of 90 s, a client waiting, and the un-suspend accepted. */
function rewoken(): Bench {
  const bench = Bench.suspending().arrive().written().written();
  expect(bench.phase).toBe("starting");
  bench.take();
  return bench;
}

/** Answers every probe under way and lets a poll interval pass. */
function probes(
  bench: Bench,
  outcome: "answered" | "silent" | "refused" | "closed" | "reset" | "unreachable",
): Bench {
  return bench.probed(outcome).pass(500);
}

describe("an answer counts for the current generation", () => {
  test("not while nothing tells it from the replicas that are ending", () => {
    const bench = probes(probes(probes(rewoken(), "answered"), "answered"), "answered");
    expect(bench.take("open")).toEqual([]);
    expect(bench.phase).toBe("starting");
  });

  test("(a) once the termination grace and ten seconds are over", () => {
    const bench = rewoken().attend(() => "answered");
    bench.pass(seconds(99.5)).take();
    expect(bench.phase).toBe("starting");
    expect(bench.pass(seconds(1)).take()).toEqual(["open 22"]);
  });

  test("(a) at once where nothing was suspended lately", () => {
    expect(Bench.with({}, { suspended: false }).arrive().probed("answered").take()).toEqual(["open 22"]);
  });

  test.each(["silent", "refused", "closed", "reset"] as const)(
    "(b) once a probe was %s and a later one answered",
    (nobody) => {
      const bench = probes(rewoken(), nobody);
      expect(bench.take()).toEqual([]);
      expect(bench.probed("answered").take()).toEqual(["open 22"]);
    },
  );

  test("(c) not while the deployment shows a version that nobody has read: it may be a suspend", () => {
    const bench = rewoken().pass(seconds(1));
    bench.change({ suspended: true }).status({ ready: true });
    expect(bench.pass(seconds(1)).probed("answered").take("open")).toEqual([]);
    expect(bench.read().take("write")).toEqual(["write un-suspend"]);
  });

  test("(c) once such a version has been read and still runs", () => {
    const bench = rewoken().pass(seconds(1));
    bench
      .change({ graceMs: seconds(60) })
      .status({ ready: true })
      .pass(seconds(1))
      .read();
    bench.status({ ready: true });
    expect(bench.probed("answered").take("open")).toEqual(["open 22"]);
  });

  test("(b) not after a probe that never got there", () => {
    expect(probes(rewoken(), "unreachable").probed("answered").take()).toEqual([]);
  });

  test("(b) not where the answer belongs to a probe begun before the one that found nobody", () => {
    const bench = rewoken().pass(500);
    const [first, second] = [bench.state.suspendedAt, bench.now];
    bench.send({ type: "probed", port: 22, startedAt: second, outcome: "refused" });
    bench.send({ type: "probed", port: 22, startedAt: (first ?? 0) + 1, outcome: "answered" });
    expect(bench.take()).toEqual([]);
  });

  test("(b) not where the probe began before the suspend", () => {
    const bench = rewoken();
    bench.send({
      type: "probed",
      port: 22,
      startedAt: (bench.state.suspendedAt ?? 0) - 1,
      outcome: "refused",
    });
    expect(bench.pass(500).probed("answered").take()).toEqual([]);
  });

  test("(c) once the deployment shows this version processed and ready", () => {
    const bench = rewoken().status({ ready: true });
    expect(bench.probed("answered").take()).toEqual(["open 22"]);
  });

  test("(c) not by a status that lags behind the un-suspend", () => {
    const bench = rewoken().status({ ready: true, lastProcessedVersion: 2 });
    expect(bench.probed("answered").take()).toEqual([]);
    bench.pass(seconds(30)).take();
    expect(bench.status({ ready: true, lastProcessedVersion: 3 }).probed("answered").take()).toEqual([
      "open 22",
    ]);
  });

  test("(c) not while the version of this generation is not known", () => {
    const bench = Bench.suspending().arrive().written();
    bench.land().send({ type: "written", version: undefined });
    bench.status({ ready: true, lastProcessedVersion: 2 });
    expect(bench.probed("answered").take("open")).toEqual([]);
    bench.pass(seconds(1)).read();
    expect(bench.state.generation.version).toBe(3);
  });

  test("with the status unreadable (a) and (b) decide", () => {
    const denied = { kind: "denied", message: "denied" } as const;
    const bench = rewoken().send({ type: "status-failed", failure: denied });
    expect(probes(bench, "silent").probed("answered").take()).toEqual(["open 22"]);
  });

  test("the longest grace seen since the suspend counts", () => {
    const bench = rewoken().attend(() => "answered");
    bench.change({ graceMs: 0 }).pass(seconds(99)).take();
    expect(bench.phase).toBe("starting");
  });

  test("a deletion ends replicas like a suspend", () => {
    const bench = Bench.awake().pass(minutes(1)).read({ id: "two", version: 0 });
    expect(bench.notes()).toContain("target_recreated");
    expect(bench.arrive().probed("answered").take()).toEqual([]);
  });
});

describe("while nothing has been read", () => {
  test("a client is probed for and spliced", () => {
    const bench = new Bench().send({ type: "tick" }).arrive();
    expect(bench.take("read", "probe")).toEqual(["read", "probe 22"]);
    expect(bench.probed("answered").take()).toEqual(["open 22"]);
  });

  test("nothing is suspended before a read has succeeded", () => {
    const bench = new Bench().send({ type: "tick" }).arrive().probed("answered").splice().leave("spliced");
    bench.readFails("denied").take();
    for (let tries = 0; tries < 120; tries += 1) bench.pass(seconds(30)).readFails("denied");
    expect(bench.take()).toEqual([]);
  });

  test("a client that nobody answers is woken for without a read, if reads fail", () => {
    const bench = new Bench().send({ type: "tick" }).arrive().readFails("denied");
    expect(bench.take()).toEqual([]);
    expect(bench.probed("silent").take()).toEqual(["write un-suspend"]);
  });

  test("but not while another port answers", () => {
    const bench = new Bench({ ports: [22, 80] })
      .send({ type: "tick" })
      .arrive(22)
      .arrive(80)
      .readFails("denied");
    bench.probed("answered", 22).splice(22).take();
    expect(bench.probed("silent", 80).take()).toEqual([]);
  });
});

describe("a hold that is about to end", () => {
  const ending = { type: "hold-ending", port: 22, id: 7 } as const;

  test("is spliced where the target answers without proof", () => {
    const bench = rewoken().probed("answered").send(ending);
    expect(bench.take()).toEqual(["connect-anyway 22 7"]);
    expect(bench.notes()).toContain("connected_unproved");
  });

  test("is not where nobody answers", () => {
    expect(rewoken().probed("silent").send(ending).take()).toEqual([]);
  });

  test("is not where whoever answered has gone since", () => {
    expect(rewoken().probed("answered").pass(500).probed("refused").send(ending).take()).toEqual([]);
  });

  test("is not while a suspend is under way", () => {
    const bench = Bench.suspending().arrive();
    bench.take();
    expect(bench.send(ending).take()).toEqual([]);
  });

  test("is, too, in the pause between two wake attempts", () => {
    const bench = Bench.suspending({ wakeTimeoutMs: seconds(20) })
      .arrive()
      .written()
      .written();
    bench
      .attend(() => "answered")
      .pass(seconds(20.4))
      .take();
    expect(bench.state.attempt?.nextAt).toBeDefined();
    expect(bench.send(ending).take()).toEqual(["connect-anyway 22 7"]);
  });
});
