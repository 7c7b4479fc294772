import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { CallRecord } from "../../../simulator/src/faults/call.ts";
import { matchesCall } from "../../../simulator/src/faults/call.ts";
import { Faults } from "../../../simulator/src/faults/faults.ts";
import { Recorder } from "../../../simulator/src/faults/recorder.ts";
import { SimulatorClock } from "../../../simulator/src/time/clock.ts";

const recorder = new Recorder();
const call = (path = "/org/o/gvc/g/workload/w", method = "PATCH"): CallRecord =>
  recorder.add({
    at: 0,
    method,
    path,
    query: {},
    headerForm: "raw",
    remoteAddress: "127.0.0.1",
    userAgent: undefined,
    body: undefined,
  });
const setUp = () => {
  const clock = new SimulatorClock({ paused: true });
  return { clock, faults: new Faults(clock) };
};

/** Whether a promise is settled once everything that is ready has run. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await setImmediate();
  return done;
}

describe("matching calls", () => {
  it.each([
    [{}, true],
    [{ method: "PATCH" }, true],
    [{ method: ["GET", "PATCH"] }, true],
    [{ method: "GET" }, false],
    [{ path: "/org/o/gvc/g/workload/w" }, true],
    [{ path: "/org/o" }, false],
    [{ path: /workload\/w$/ }, true],
    [{ principal: /./ }, false],
    [{ where: ({ headerForm }: CallRecord) => headerForm === "raw" }, true],
  ])("%j", (match, expected) => {
    expect(matchesCall(match, call())).toBe(expected);
  });
});

describe("faults", () => {
  it("let calls pass when there are none", async () => {
    const { faults } = setUp();
    expect(await faults.pass("received", call())).toEqual({ type: "go" });
  });

  it("hold one call until it is released", async () => {
    const { faults } = setUp();
    const stop = faults.stopAt({ method: "PATCH" }, "received");
    const first = call();
    const passing = faults.pass("received", first);
    expect(await stop.reached).toBe(first);
    expect(stop.held).toEqual([first]);
    expect(await faults.pass("received", call())).toEqual({ type: "go" });
    expect(await settled(passing)).toBe(false);
    stop.release();
    expect(await passing).toEqual({ type: "go" });
    expect([stop.taken, stop.held, faults.list()]).toEqual([1, [], []]);
  });

  it("hold several, each released alone", async () => {
    const { faults } = setUp();
    const stop = faults.stopAt({}, "applied", { times: 2 });
    const next = stop.next();
    const [one, two] = [faults.pass("applied", call()), faults.pass("applied", call())];
    (await next).release({ type: "reset" });
    expect(await one).toEqual({ type: "reset" });
    expect(await settled(two)).toBe(false);
    (await stop.next()).release();
    expect(await two).toEqual({ type: "go" });
  });

  it("delay on the simulator's clock", async () => {
    const { faults, clock } = setUp();
    faults.delay({}, 500, { times: 1 });
    const passing = faults.pass("received", call());
    clock.advance(499);
    expect(await settled(passing)).toBe(false);
    clock.advance(1);
    expect(await passing).toEqual({ type: "go" });
    expect(clock.pending).toBe(0);
  });

  it("take as many calls as told, at their point", async () => {
    const { faults } = setUp();
    const rule = faults.fail({}, { status: 503, times: 2, at: "applied" });
    const types = [];
    for (const point of ["received", "applied", "applied", "applied"] as const) {
      types.push((await faults.pass(point, call())).type);
    }
    expect(types).toEqual(["go", "answer", "answer", "go"]);
    expect(rule.taken).toBe(2);
  });

  it("tell a rate limit from a quota", async () => {
    const { faults } = setUp();
    const limit = faults.rateLimit({}, { retryAfterSeconds: 3 });
    expect(await faults.pass("received", call())).toMatchObject({
      answer: { status: 429, headers: { "retry-after": "3" } },
    });
    limit.remove();
    faults.quota({});
    const verdict = await faults.pass("received", call());
    expect(verdict).toMatchObject({ answer: { status: 429, headers: {}, body: { message: /quota/ } } });
  });

  it("stop and then fail, in the order they were made", async () => {
    const { faults } = setUp();
    const stop = faults.stopAt({}, "received");
    faults.fail({}, { status: 500 });
    const passing = faults.pass("received", call());
    await stop.reached;
    stop.release();
    expect(await passing).toMatchObject({ type: "answer", answer: { status: 500 } });
  });

  it("let a caller down and apply later", async () => {
    const { faults } = setUp();
    const late = faults.applyLate({}, { answer: 504 });
    const verdict = await faults.pass("received", call());
    expect(verdict).toMatchObject({ type: "late", end: { answer: { status: 504 } } });
    late.apply();
    expect(verdict.type === "late" && (await verdict.until)).toEqual({ type: "go" });
  });

  it("apply nothing after disposal", async () => {
    const { faults } = setUp();
    faults.stopAt({}, "received");
    faults.delay({ path: /other/ }, 1000);
    const held = faults.pass("received", call());
    const delayed = faults.pass("received", call("/other"));
    const late = new Faults(new SimulatorClock({ paused: true }));
    late.applyLate({});
    const verdict = await late.pass("received", call());
    faults.dispose();
    late.dispose();
    expect(await held).toEqual({ type: "reset" });
    expect(await delayed).toEqual({ type: "reset" });
    expect(verdict.type === "late" && (await verdict.until)).toEqual({ type: "reset" });
  });
});

describe("the recorder", () => {
  it("waits for calls to end", async () => {
    const own = new Recorder();
    const seen: number[] = [];
    own.subscribe(({ id }) => seen.push(id));
    const record = own.add({ ...call(), method: "GET" });
    const waiting = own.waitFor({ method: "GET" }, 1);
    expect(await settled(waiting)).toBe(false);
    record.outcome = "answered";
    own.tell(record);
    expect(await waiting).toEqual([record]);
    expect(await own.waitFor({ method: "GET" })).toEqual([record]);
    expect(seen).toEqual([1, 1]);
    own.clear();
    expect(own.calls).toEqual([]);
  });
});
