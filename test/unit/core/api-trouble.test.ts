import { describe, expect, test } from "vitest";
import type { CallFailureKind } from "../../../proxy-image/src/core/types.ts";
import { Bench, minutes, seconds } from "../../support/core-bench.ts";

/**
 * Lets time pass while every write fails in the same way, 100 ms after it was sent, and says when writes were sent.
 */
function failing(bench: Bench, ms: number, kind: CallFailureKind, retryAfterMs?: number): number[] {
  const sent: number[] = [];
  const until = bench.now + ms;
  while (bench.now < until) {
    bench.pass(100);
    if (!bench.state.write) continue;
    sent.push(bench.state.write.sentAt);
    bench.writeFails(kind, retryAfterMs);
  }
  return sent;
}

const gaps = (times: number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0));

describe("API failures", () => {
  test("a storm of clients against a 403 costs three writes in five seconds", () => {
    const bench = Bench.suspended().attend(() => "silent");
    bench.pass(minutes(1));
    let writes = 0;
    for (let storm = 0; storm < 25; storm += 1) {
      bench.arrive();
      writes += failing(bench, 200, "denied").length;
      bench.leave("waiting");
    }
    expect(writes).toBeLessThanOrEqual(3);
    expect(bench.conditions()).toContain("writes_failing");
  });

  test.each(["denied", "throttled", "invalid", "unreachable", "server", "broken"] as const)(
    "tries after %s are at most eight seconds apart while somebody is held, and few",
    (kind) => {
      const bench = Bench.suspended().attend(() => "silent");
      bench.pass(minutes(1));
      const sent = failing(bench.arrive(), minutes(3), kind);
      expect(Math.max(...gaps(sent))).toBeLessThanOrEqual(8_200);
      expect(sent.length).toBeLessThanOrEqual(3 + 36);
      expect(bench.take("drop")).toEqual([]);
      expect(bench.report.held).toBe(1);
    },
  );

  test("the first try after a fix works, within one backoff", () => {
    const bench = Bench.suspended().attend(() => "silent");
    failing(bench.pass(minutes(1)).arrive(), minutes(3), "denied");
    for (let waited = 0; !bench.state.write; waited += 100) {
      expect(waited).toBeLessThanOrEqual(8_000);
      bench.pass(100);
    }
    expect(bench.written().phase).toBe("starting");
    expect(bench.notes()).toContain("api_recovered");
  });

  test("Retry-After is honoured up to a minute", () => {
    const at = (retryAfterMs: number) => {
      const bench = Bench.suspended().attend(() => "silent");
      return gaps(failing(bench.pass(minutes(1)).arrive(), minutes(2), "throttled", retryAfterMs))[0] ?? 0;
    };
    expect(at(seconds(20))).toBeGreaterThanOrEqual(seconds(20));
    expect(at(seconds(20))).toBeLessThanOrEqual(seconds(21));
    expect(at(minutes(10))).toBeGreaterThanOrEqual(minutes(1));
    expect(at(minutes(10))).toBeLessThanOrEqual(seconds(61));
  });

  test("a quota is permanent: clients are told at once, and it is tried again after a minute", () => {
    const bench = Bench.suspended().arrive().writeFails("quota");
    expect(bench.take()).toEqual(["write un-suspend", "drop quota"]);
    bench.leave("waiting").pass(seconds(30)).arrive();
    expect(bench.take()).toEqual(["drop quota"]);
    bench
      .leave("waiting")
      .attend(() => "silent")
      .pass(seconds(31))
      .take();
    expect(bench.arrive().take()).toEqual(["write un-suspend"]);
  });

  test("with nobody held a failing API is read every thirty seconds", () => {
    const bench = Bench.suspended().pass(minutes(1)).readFails("server");
    bench.take();
    for (let tries = 0; tries < 10; tries += 1) {
      bench.pass(seconds(30));
      expect(bench.take("read")).toEqual(["read"]);
      bench.readFails("server");
    }
  });

  test("spliced clients never notice", () => {
    const bench = Bench.awake().arrive().splice();
    bench.take();
    for (let tries = 0; tries < 60; tries += 1)
      bench.pass(seconds(30)).state.read && bench.readFails("denied");
    expect(bench.take()).toEqual([]);
    expect(bench.report.spliced).toBe(1);
  });

  test("a client is let through to a target that was awake, whatever the API says", () => {
    const bench = Bench.awake().pass(minutes(1)).readFails("server");
    expect(bench.arrive().take()).toEqual(["open 22"]);
  });

  test("a failed suspend is tried again, and its Retry-After honoured", () => {
    const bench = Bench.suspending()
      .attend(() => "answered")
      .writeFails("throttled", seconds(20));
    expect(bench.pass(seconds(19)).take()).toEqual([]);
    expect(bench.pass(seconds(2)).take()).toEqual(["write suspend 1"]);
  });

  test("a new client cancels it", () => {
    const bench = Bench.suspending()
      .attend(() => "answered")
      .writeFails("denied")
      .arrive()
      .splice();
    bench.take();
    expect(bench.pass(minutes(30)).take()).toEqual([]);
  });

  test("the health report says what is wrong, since when, and what is tried next", () => {
    const bench = Bench.suspended().arrive().writeFails("denied").pass(100);
    expect(bench.report.conditions).toEqual([
      { type: "writes_failing", reason: "denied: denied", forMs: 100, nextTryInMs: 400 },
    ]);
  });

  test("and no longer than it is", () => {
    const bench = Bench.suspended().arrive().writeFails("denied").pass(500).written();
    expect(bench.conditions()).toEqual([]);
  });
});
