/** What only a process of its own can show: signals, the preStop hook, and memory. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectPeer, type Peer } from "../../support/client.ts";
import { ProxyProcess } from "../../support/proxy-process.ts";
import { json, StubApi, workloadDocument } from "../../support/stub-api.ts";
import { deadPort, echoing, TestTarget } from "../../support/target.ts";

const SESSIONS = 1_000;

let target: TestTarget;
let stub: StubApi;
let ports: { listen: number; health: number };
let proxy: ProxyProcess | undefined;

beforeEach(async () => {
  target = await TestTarget.start(echoing("B"));
  stub = await StubApi.start();
  ports = { listen: await deadPort(), health: await deadPort() };
});

afterEach(async () => {
  await proxy?.stop();
  await stub.stop();
  await target.stop();
});

const settings = (changes: Record<string, string> = {}): Record<string, string> => ({
  TARGET_WORKLOAD: "sftp",
  TARGET_HOST: "127.0.0.1",
  PORT_MAPPINGS: `${ports.listen}:${target.port}`,
  HEALTH_PORT: `${ports.health}`,
  CPLN_ENDPOINT: stub.url,
  CPLN_ORG: "org-1",
  CPLN_GVC: "demo",
  CPLN_WORKLOAD: "proxy",
  CPLN_LOCATION: "loc-1",
  CPLN_TOKEN: "token",
  ...changes,
});

async function start(changes: Record<string, string> = {}): Promise<ProxyProcess> {
  proxy = new ProxyProcess(settings(changes));
  await proxy.logged("started");
  return proxy;
}

/** As the kernel counts it, in MiB. */
function peakMemory(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

describe("a proxy full of sessions", () => {
  it("is drained by its hook, which costs little memory, and ends when the last session has", async () => {
    const running = await start();
    const sessions: Peer[] = [];
    for (let batch = 0; batch < SESSIONS / 50; batch++) {
      const peers = await Promise.all(Array.from({ length: 50 }, () => connectPeer(ports.listen)));
      await Promise.all(peers.map((peer) => peer.text(1)));
      sessions.push(...peers);
    }
    const hook = new ProxyProcess(settings(), { args: ["prestop"] });
    expect(await running.logged("draining")).toMatchObject({ cause: "asked", spliced: SESSIONS });
    const hookMemory = peakMemory(hook.child.pid);
    const served = await connectPeer(ports.listen);
    expect(await served.text(1)).toBe("B");
    for (const peer of [served, ...sessions.slice(0, -1)]) peer.end();
    const last = sessions.at(-1);
    last?.write("x");
    expect(await last?.text(1)).toBe("x");
    // The hook waits for as long as there is one.
    expect(hook.child.exitCode).toBeNull();
    running.signal("SIGTERM");
    await running.logged("listeners_closed");
    last?.end();
    expect(await hook.ended).toBe(0);
    expect(await running.ended).toBe(0);
    expect(running.lines.find(({ event }) => event === "drained")).toMatchObject({ cut: 0 });
    // Beside a proxy within 128Mi; a bare Node takes most of it.
    expect(hookMemory).toBeLessThan(64);
  });
});

describe("a suspend in flight when the signal comes", () => {
  it("is awaited, and the process ends with its answer", async () => {
    let answer = () => {};
    stub.answer = (call, response, request) => {
      const document = json(200, workloadDocument({ version: call.method === "PATCH" ? 2 : 1 }));
      if (call.method === "PATCH") answer = () => document(call, response, request);
      else document(call, response, request);
    };
    const running = await start({ IDLE_HOLD: "100ms" });
    const client = await connectPeer(ports.listen);
    expect(await client.text(1)).toBe("B");
    client.end();
    await running.logged("suspend");
    await stub.called(stub.calls.length + (stub.calls.some(({ method }) => method === "PATCH") ? 0 : 1));
    running.signal("SIGTERM");
    await running.logged("listeners_closed");
    expect(running.child.exitCode).toBeNull();
    answer();
    expect(await running.ended).toBe(0);
    expect(stub.calls.filter(({ method }) => method === "PATCH")).toHaveLength(1);
    expect(running.lines.map(({ event }) => event)).toContain("suspended");
  });
});
