import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { at } from "../../../simulator/src/documents/json.ts";
import { SimulatorClock } from "../../../simulator/src/time/clock.ts";
import { home, startApi } from "./support.ts";

const item = `${home}/workload/target`;
const suspend = { spec: { defaultOptions: { suspend: true } } };
const patches = { method: "PATCH", path: /workload\/target$/ };

async function setUp(options: Parameters<typeof startApi>[0] = {}) {
  const api = await startApi(options);
  const { target } = await api.deploy();
  const suspended = () => at(api.simulator.store.get(target), "spec.defaultOptions.suspend");
  return { api, faults: api.simulator.faults, recorder: api.simulator.recorder, suspended };
}

describe("a call can be", () => {
  it("held before it is applied", async () => {
    const { api, faults, suspended } = await setUp();
    const stop = faults.stopAt(patches, "received");
    const answer = api.patch(item, suspend);
    const call = await stop.reached;
    expect(call).toMatchObject({ method: "PATCH", path: item, outcome: "open", body: suspend });
    expect(suspended()).toBeUndefined();
    // Others are not held up.
    expect((await api.get(item)).status).toBe(200);
    stop.release();
    expect((await answer).status).toBe(200);
    expect(suspended()).toBe(true);
  });

  it("held after it is applied", async () => {
    const { api, faults, suspended } = await setUp();
    const stop = faults.stopAt(patches, "applied");
    const answer = api.patch(item, suspend);
    await stop.reached;
    expect(suspended()).toBe(true);
    stop.release({ type: "reset" });
    await expect(answer).rejects.toThrow();
  });

  it("known to be answered", async () => {
    const { api, faults } = await setUp();
    const stop = faults.stopAt(patches, "answered");
    const answer = api.patch(item, suspend);
    expect(await stop.reached).toMatchObject({ status: 200, outcome: "answered" });
    expect((await answer).status).toBe(200);
    stop.release();
  });

  it("overtaken by a later one", async () => {
    const { api, faults, suspended } = await setUp();
    const stop = faults.stopAt(patches, "received");
    const first = api.patch(item, suspend);
    await stop.reached;
    await api.ok(api.patch(item, { spec: { defaultOptions: { suspend: false } } }));
    expect(suspended()).toBe(false);
    stop.release();
    await first;
    expect(suspended()).toBe(true);
  });

  it("delayed on the simulator's clock", async () => {
    const clock = new SimulatorClock({ paused: true });
    const { api, faults, recorder } = await setUp({ clock });
    faults.delay(patches, 30_000);
    const stop = faults.stopAt(patches, "received");
    const arrival = recorder.arrival(patches);
    const answer = api.patch(item, suspend);
    // The delay comes first, so reaching the stop proves that it has passed.
    const reached = stop.reached.then(() => clock.now());
    const start = clock.now();
    await arrival;
    await setImmediate();
    clock.advance(30_000);
    expect((await reached) - start).toBe(30_000);
    stop.release();
    expect((await answer).status).toBe(200);
  });

  it("failed before, and after, it is applied", async () => {
    const { api, faults, suspended } = await setUp();
    faults.fail(patches, { status: 503, times: 1 });
    expect(await api.patch(item, suspend)).toMatchObject({
      status: 503,
      body: { code: "SERVICE_UNAVAILABLE" },
    });
    expect(suspended()).toBeUndefined();
    faults.fail(patches, { status: 502, times: 1, at: "applied" });
    expect((await api.patch(item, suspend)).status).toBe(502);
    expect(suspended()).toBe(true);
    expect((await api.patch(item, suspend)).status).toBe(200);
  });

  it("reset before, and after, it is applied", async () => {
    const { api, faults, recorder, suspended } = await setUp();
    faults.reset(patches, { times: 1 });
    await expect(api.patch(item, suspend)).rejects.toThrow(/ECONNRESET|hang up/);
    expect(suspended()).toBeUndefined();
    faults.reset(patches, { times: 1, at: "applied" });
    await expect(api.patch(item, suspend)).rejects.toThrow(/ECONNRESET|hang up/);
    expect(suspended()).toBe(true);
    expect(recorder.matching(patches).map(({ outcome }) => outcome)).toEqual(["reset", "reset"]);
  });

  it.each([["reset"], [504]] as const)("applied late, after a %s", async (answer) => {
    const { api, faults, recorder, suspended } = await setUp();
    const late = faults.applyLate(patches, { answer });
    const call = api.patch(item, suspend).then(
      ({ status }) => status,
      () => "reset",
    );
    expect(await call).toBe(answer);
    expect(suspended()).toBeUndefined();
    const applied = new Promise<void>((resolve) => {
      recorder.subscribe((record) => record.appliedAt !== undefined && resolve());
    });
    late.apply();
    await applied;
    expect(suspended()).toBe(true);
    expect(recorder.matching(patches)).toMatchObject([{ late: true }]);
  });

  it("applied after its caller has left by itself", async () => {
    const { api, faults, recorder, suspended } = await setUp();
    const stop = faults.stopAt(patches, "received");
    const caller = new AbortController();
    const answer = api.patch(item, suspend, { signal: caller.signal });
    await stop.reached;
    caller.abort();
    await expect(answer).rejects.toThrow();
    expect(suspended()).toBeUndefined();
    stop.release();
    const [record] = await recorder.waitFor(patches);
    expect(suspended()).toBe(true);
    expect(record?.appliedAt).toBeTypeOf("number");
  });

  it("limited in rate, with and without a time to wait", async () => {
    const { api, faults } = await setUp();
    faults.rateLimit(patches, { times: 1, retryAfterSeconds: 2 });
    const told = await api.patch(item, suspend);
    expect([told.status, told.headers["retry-after"]]).toEqual([429, "2"]);
    expect(told.body.message).not.toMatch(/quota/i);
    faults.rateLimit(patches, { times: 1 });
    expect((await api.patch(item, suspend)).headers["retry-after"]).toBeUndefined();
    faults.quota(patches);
    expect(await api.patch(item, suspend)).toMatchObject({ status: 429, body: { message: /quota/ } });
    faults.clear();
    expect((await api.patch(item, suspend)).status).toBe(200);
  });

  it("meant by who makes it", async () => {
    const { api, faults } = await setUp();
    faults.fail({ principal: /identity\/proxy$/ }, { status: 500 });
    expect((await api.get(item)).status).toBe(200);
  });
});

describe("the API", () => {
  it("goes away and comes back at the same place", async () => {
    const { api } = await setUp();
    const { simulator } = api;
    const url = simulator.apiUrl;
    await simulator.down();
    expect(simulator.outage).toBe("refuse");
    await expect(api.get(item)).rejects.toThrow("ECONNREFUSED");
    await simulator.down("reset");
    await expect(api.get(item)).rejects.toThrow(/ECONNRESET|hang up/);
    await simulator.down(503);
    expect((await api.get(item)).status).toBe(503);
    await simulator.down("silent");
    const arrival = simulator.recorder.arrival({ path: item });
    const mute = expect(api.get(item)).rejects.toThrow();
    await arrival;
    await simulator.up();
    await mute;
    const outcomes = simulator.recorder
      .matching({ path: item })
      .map(({ outcome, status }) => status ?? outcome);
    expect(outcomes).toEqual(["reset", 503, "gone"]);
    expect(simulator.apiUrl).toBe(url);
    expect((await api.get(item)).status).toBe(200);
  });

  it("cannot listen where somebody else does, and says so", async () => {
    const { api } = await setUp();
    const port = Number(new URL(api.simulator.apiUrl).port);
    await expect(startApi({ port })).rejects.toThrow("EADDRINUSE");
  });

  it("leaves nothing behind when disposed, not even what it held", async () => {
    const { api, faults, suspended } = await setUp();
    const stop = faults.stopAt(patches, "received");
    const held = api.patch(item, suspend);
    await stop.reached;
    const failed = expect(held).rejects.toThrow();
    await api.simulator.dispose();
    await failed;
    expect(suspended()).toBeUndefined();
    await expect(api.get(item)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("the record", () => {
  it("holds every call: who, how, what, and what came of it", async () => {
    const { api, recorder } = await setUp();
    recorder.clear();
    await api.patch(item, suspend);
    await api.get(item, { authorization: null });
    await api.get(`${item}?x=y`, { authorization: "nobody's" });
    expect(recorder.calls).toMatchObject([
      {
        method: "PATCH",
        path: item,
        operation: "patch workload",
        principal: "/org/local/serviceaccount/deployer",
        headerForm: "bearer",
        remoteAddress: "127.0.0.1",
        body: suspend,
        status: 200,
        outcome: "answered",
        answer: { kind: "workload" },
      },
      { method: "GET", principal: "anonymous", headerForm: "none", status: 403 },
      { headerForm: "raw", query: { x: "y" }, status: 401 },
    ]);
    expect(recorder.calls[0]?.at).toBeTypeOf("number");
  });
});
