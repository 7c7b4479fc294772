import { afterEach, describe, expect, it } from "vitest";
import { type ControlServer, startControl } from "../../../simulator/src/control/server.ts";
import type { WorkloadOptions } from "../../../simulator/src/index.ts";
import { home, startWhole, workload, workloadKey } from "./support.ts";

/** The API and the platform together: what only both can show. */
const item = `${home}/workload/target`;
const quick: WorkloadOptions = { graceMs: 50, bootMs: 0 };
const suspend = (value: boolean) => ({ spec: { defaultOptions: { suspend: value } } });
const image = "echo-banner:1";

let control: ControlServer | undefined;
afterEach(() => control?.dispose());

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("the local Control Plane", () => {
  it("runs what is written, and suspends and wakes it for a workload's own token", async () => {
    const api = await startWhole({ workloads: quick, switches: { deploymentReadable: "view" } });
    const { target, proxy } = await api.deploy(image);
    const { platform } = api.simulator;
    await platform.when(target, ({ ready }) => ready === 1);
    const { address, token } = platform.impersonate(proxy, "aws-us-west-2");
    const from = { authorization: token, from: address };
    await api.ok(api.patch(item, suspend(true), from));
    await platform.when(
      target,
      ({ replicas, suspendedStatus }) => replicas.length === 0 && suspendedStatus === "suspended",
    );
    expect((await api.get(item, from)).body.status.suspendedStatus).toBe("suspended");
    await api.ok(api.patch(item, suspend(false), from));
    await platform.when(target, ({ ready }) => ready === 1);
    expect((await api.get(`${item}/deployment`, from)).body.items[0].status).toMatchObject({ ready: true });
    // The same token from anywhere else is worth nothing.
    expect((await api.get(item, { authorization: token })).status).toBe(403);
  });

  it("stops a replica on command", async () => {
    const api = await startWhole({ workloads: quick });
    const { target } = await api.deploy(image);
    const { platform } = api.simulator;
    const before = (await platform.when(target, ({ ready }) => ready === 1)).replicas[0]?.name ?? "";
    const spec = { location: "aws-us-west-2", replica: before };
    await api.ok(api.post(`${item}/-command`, { type: "stopReplica", spec }));
    await platform.when(
      target,
      ({ replicas, ready }) => ready === 1 && replicas.every(({ name }) => name !== before),
    );
  });

  it("shows a secret to a workload whose identity may reveal it", async () => {
    const api = await startWhole({ workloads: quick });
    await api.ok(api.post(`${home}/identity`, { name: "reader" }));
    await api.ok(
      api.post("/org/local/secret", {
        name: "word",
        type: "opaque",
        data: { payload: "x", encoding: "plain" },
      }),
    );
    const reading = workload("reader", { identityLink: "//identity/reader" }, image);
    const [main] = (reading.spec as { containers: { env?: unknown }[] }).containers;
    if (main) main.env = [{ name: "WORD", value: "cpln://secret/word" }];
    await api.ok(api.post(`${home}/workload`, reading));
    const { platform } = api.simulator;
    await platform.when(workloadKey("reader"), ({ replicas }) =>
      replicas.some(({ reason }) => reason !== undefined),
    );
    const bindings = [{ permissions: ["reveal"], principalLinks: ["//gvc/demo/identity/reader"] }];
    await api.ok(
      api.post("/org/local/policy", {
        name: "read",
        targetKind: "secret",
        targetLinks: ["//secret/word"],
        bindings,
      }),
    );
    await api.ok(api.patch(`${home}/workload/reader`, { tags: { "cpln/deployTimestamp": "1" } }));
    await platform.when(workloadKey("reader"), ({ ready }) => ready === 1);
  });

  it("leaves no process when disposed", async () => {
    const api = await startWhole({ workloads: quick });
    const { target } = await api.deploy(image);
    const { replicas } = await api.simulator.platform.when(target, ({ ready }) => ready === 1);
    const pids = replicas.flatMap((replica) => replica.pids);
    expect(pids.length).toBeGreaterThan(0);
    expect(pids.every(alive)).toBe(true);
    await api.simulator.dispose();
    expect(pids.some(alive)).toBe(false);
  });
});

describe("the control endpoint over workloads", () => {
  it("kills, fails, recovers, holds boots and shows what is there", async () => {
    const api = await startWhole({ workloads: { ...quick, crashBackoffMs: 1 } });
    const { target } = await api.deploy(image);
    const { platform } = api.simulator;
    control = await startControl(api.simulator);
    const { url } = control;
    const ask = async (method: string, path: string, body?: unknown) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(`${url}/workloads/demo/target${path}`, {
        method,
        headers: { connection: "close" },
        ...sent,
      });
      return { status: answer.status, body: await answer.text() };
    };
    const [first] = (await platform.when(target, ({ ready }) => ready === 1)).replicas;
    expect((await ask("POST", "/boot", { hold: true })).status).toBe(200);
    expect((await ask("POST", "/kill", { replica: first?.name })).status).toBe(200);
    await platform.when(target, ({ replicas }) => replicas.length === 1 && replicas[0]?.name !== first?.name);
    expect(platform.snapshot(target).ready).toBe(0);
    expect((await ask("POST", "/boot", { hold: false, ms: 0 })).status).toBe(200);
    await platform.when(target, ({ ready }) => ready === 1);
    expect((await ask("POST", "/fail", { kind: "crash-loop", exitCode: 3 })).status).toBe(200);
    await platform.when(
      target,
      ({ ready, replicas }) => ready === 0 && replicas.some(({ restarts }) => restarts > 0),
    );
    expect((await ask("POST", "/recover", {})).status).toBe(200);
    await platform.when(target, ({ ready }) => ready === 1);
    expect((await ask("POST", "/mesh", { as: "refuse" })).status).toBe(200);
    expect((await ask("GET", "")).body).toContain('"ready": 1');
    expect((await ask("GET", "/logs")).status).toBe(200);
    expect(await ask("POST", "/fail", {})).toMatchObject({
      status: 400,
      body: expect.stringContaining('"kind"'),
    });
    const switched = await fetch(`${url}/switches`, {
      method: "PATCH",
      headers: { connection: "close" },
      body: '{"statusLagMs": 5}',
    });
    expect([switched.status, platform.switches.statusLagMs]).toEqual([200, 5]);
  });
});
