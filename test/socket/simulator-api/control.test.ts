import { afterEach, describe, expect, it } from "vitest";
import { type ControlServer, startControl } from "../../../simulator/src/control/server.ts";
import { home, startApi } from "./support.ts";

const item = `${home}/workload/target`;
let control: ControlServer | undefined;
afterEach(() => control?.dispose());

async function setUp() {
  const api = await startApi();
  await api.deploy();
  control = await startControl(api.simulator);
  const { url } = control;
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { connection: "close", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json");
    return { status: response.status, body: json ? JSON.parse(text) : text };
  };
  return { api, ask };
}

describe("the control endpoint", () => {
  it("says what it can do", async () => {
    const { ask } = await setUp();
    const { body } = await ask("GET", "/");
    expect(body).toContain("POST    /faults/:id/release");
    expect(await ask("GET", "/nothing")).toMatchObject({
      status: 404,
      body: expect.stringContaining("/faults"),
    });
  });

  it("holds a call and lets it go", async () => {
    const { api, ask } = await setUp();
    const match = { method: "PATCH", path: "/workload/" };
    const { body: fault } = await ask("POST", "/faults", { do: "stop", match });
    const stopped = api.simulator.faults.find(fault.id) as ReturnType<typeof api.simulator.faults.stopAt>;
    const answer = api.patch(item, {});
    await stopped.reached;
    const { body: list } = await ask("GET", "/faults");
    expect(list).toMatchObject([
      { what: "stop at received", taken: 1, held: [expect.stringContaining(item)] },
    ]);
    await ask("POST", `/faults/${fault.id}/release`, { status: 504 });
    expect((await answer).status).toBe(504);
    expect((await ask("POST", `/faults/${fault.id}/release`)).status).toBe(400);
  });

  it.each([
    [{ do: "fail", status: 502, times: 1 }, 502],
    [{ do: "fail", status: 502, at: "applied", message: "late" }, 502],
    [{ do: "rate-limit", retryAfterSeconds: 1 }, 429],
    [{ do: "quota", message: "the quota is used up" }, 429],
    [{ do: "late", answer: 504 }, 504],
    [{ do: "reset" }, "reset"],
    [{ do: "late" }, "reset"],
  ])("makes calls fail: %j", async (fault, expected) => {
    const { api, ask } = await setUp();
    const { status, body } = await ask("POST", "/faults", {
      match: { operation: "patch workload" },
      ...fault,
    });
    expect(status).toBe(200);
    const outcome = await api.patch(item, {}).then(
      (answer) => answer.status,
      () => "reset",
    );
    expect(outcome).toBe(expected);
    if (fault.do === "late") expect((await ask("POST", `/faults/${body.id}/apply`)).status).toBe(200);
    else expect((await ask("POST", `/faults/${body.id}/apply`)).status).toBe(400);
    expect((await ask("DELETE", `/faults/${body.id}`)).status).toBe(200);
    expect((await api.patch(item, {})).status).toBe(200);
  });

  it("drives the clock, the switches and the API's presence", async () => {
    const { api, ask } = await setUp();
    await ask("POST", "/clock", { do: "pause" });
    const before = api.simulator.clock.now();
    await ask("POST", "/faults", { do: "delay", match: {}, ms: 10 });
    await ask("POST", "/clock", { advanceMs: 5000 });
    expect(api.simulator.clock.now()).toBe(before + 5000);
    expect((await ask("GET", "/clock")).body).toMatchObject({ phase: "paused" });
    await ask("POST", "/clock", { do: "resume" });
    await ask("DELETE", "/faults");
    expect((await ask("PATCH", "/switches", { deploymentReadable: "view" })).body.deploymentReadable).toBe(
      "view",
    );
    expect(api.simulator.switches.deploymentReadable).toBe("view");
    await ask("POST", "/api/down", { as: 500 });
    expect((await api.get(item)).status).toBe(500);
    await ask("POST", "/api/down", {});
    await expect(api.get(item)).rejects.toThrow("ECONNREFUSED");
    await ask("POST", "/api/up");
    expect((await api.get(item)).status).toBe(200);
  });

  it("shows calls and workloads, and makes tokens", async () => {
    const { api, ask } = await setUp();
    const grants = [{ kind: "workload", permissions: ["view"] }];
    const { body } = await ask("POST", "/tokens", { name: "viewer", grants });
    expect((await api.get(item, { authorization: body.token })).status).toBe(200);
    const { body: calls } = await ask("GET", "/calls?method=GET&path=target$&since=1");
    expect(calls).toMatchObject([{ path: item, status: 200 }]);
    expect((await ask("GET", "/workloads")).body).toMatchObject([
      { name: "proxy", replicas: { "aws-us-west-2": [] } },
      { name: "target" },
    ]);
    await ask("DELETE", "/calls");
    expect((await ask("GET", "/calls")).body).toEqual([]);
  });

  it.each([
    ["POST", "/faults", {}],
    ["POST", "/faults", { do: "delay" }],
    ["POST", "/faults", { do: "stop", at: "nowhere" }],
    ["POST", "/faults", { do: "stop", match: { path: "(" } }],
    ["POST", "/faults", { do: "stop", times: "2" }],
    ["POST", "/faults", "{"],
    ["POST", "/faults", "[]"],
    ["DELETE", "/faults/9", undefined],
    ["POST", "/api/down", { as: "odd" }],
    ["POST", "/clock", {}],
    ["PATCH", "/switches", { odd: 1 }],
    ["PATCH", "/switches", { outboundRule: 1 }],
    ["POST", "/tokens", {}],
  ])("refuses %s %s %j", async (method, path, body) => {
    const { ask } = await setUp();
    expect((await ask(method, path, body)).status).toBe(400);
  });

  it("does nothing for a web page", async () => {
    const { api, ask } = await setUp();
    const headers = { origin: "http://example.com" };
    expect((await ask("POST", "/api/down", {}, headers)).status).toBe(400);
    expect((await api.get(item)).status).toBe(200);
  });
});
