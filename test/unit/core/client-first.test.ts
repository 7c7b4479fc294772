/** What only clients that speak first bring about: ends without an answer, strangers, servers that say "not yet". */
import { describe, expect, it } from "vitest";
import { Bench, seconds } from "../../support/core-bench.ts";

describe("a session that the target ended without having said a byte", () => {
  it("takes the port's proof: the next client is probed for first", () => {
    const bench = Bench.awake().arrive().splice();
    expect(bench.take()).toEqual(["open 22"]);
    bench.send({ type: "left", port: 22, from: "spliced", unanswered: true });
    bench.pass(seconds(1)).read();
    expect(bench.arrive().take("open", "probe")).toEqual(["probe 22"]);
    expect(bench.probed("answered").take()).toEqual(["open 22"]);
  });

  it("is none of the others: an answered one leaves the port proved", () => {
    const bench = Bench.awake().arrive().splice().leave("spliced");
    bench.take();
    expect(bench.arrive().take("open", "probe")).toEqual(["open 22"]);
  });
});

describe("a stranger", () => {
  const session = (bench: Bench, stranger: boolean) =>
    bench.arrive().splice().send({ type: "left", port: 22, from: "spliced", stranger });

  it("does not begin the idle-hold anew", () => {
    const late = seconds(10);
    const bench = session(Bench.awake().idle(late), true);
    bench.take();
    bench.attend(() => "answered").pass(late + seconds(1));
    expect(bench.take("write")).toEqual(["write suspend 1"]);
  });

  it("is told from a client, who does", () => {
    const late = seconds(10);
    const bench = session(Bench.awake().idle(late), false);
    bench.take();
    bench.attend(() => "answered").pass(late + seconds(1));
    expect(bench.take("write")).toEqual([]);
  });
});

describe("a server that says that it does not serve yet", () => {
  it("is neither ready nor nobody, so that an old one that says so proves nothing", () => {
    const bench = Bench.suspended().arrive();
    bench.written();
    bench.probed("unready").take();
    expect(bench.phase).toBe("starting");
    // Within the termination grace an answer needs a look before it that found nobody.
    bench.pass(seconds(1));
    expect(bench.probed("answered").take()).toEqual([]);
    bench.pass(seconds(1));
    bench.probed("closed");
    bench.pass(seconds(1));
    while (bench.phase === "starting") bench.probed("answered");
    expect(bench.take()).toEqual(["open 22"]);
  });
});

describe("a status that turns ready", () => {
  it("is worth a look at once, however long the interval is, and only once", () => {
    const bench = Bench.suspended({ wakePollIntervalMs: seconds(30) }).arrive();
    bench.written();
    bench.probed("silent");
    bench.pass(seconds(2)).take();
    bench.status({ ready: true });
    expect(bench.take("probe")).toEqual(["probe 22"]);
    bench.probed("silent").pass(seconds(2)).status({ ready: true });
    expect(bench.take("probe")).toEqual([]);
  });

  it("is looked at beside a look that is still silent", () => {
    const bench = Bench.suspended({ wakePollIntervalMs: seconds(30) })
      .arrive()
      .written();
    bench.take();
    expect(bench.status({ ready: true }).take("probe")).toEqual(["probe 22"]);
  });
});
