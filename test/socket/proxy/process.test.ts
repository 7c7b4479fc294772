import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundle, codeCache, entry } from "../../support/bundle.ts";
import { connectPeer, type Peer } from "../../support/client.ts";
import { plane } from "../../support/planes.ts";
import { ProxyProcess } from "../../support/proxy-process.ts";
import { json, StubApi, workloadDocument } from "../../support/stub-api.ts";
import { deadPort, echoing, TestTarget } from "../../support/target.ts";

let target: TestTarget;
let stub: StubApi;
let ports: { listen: number; health: number };
let proxy: ProxyProcess | undefined;

beforeEach(async () => {
  target = await TestTarget.start(echoing("B"));
  stub = await StubApi.start(json(200, workloadDocument()));
  ports = { listen: await deadPort(), health: await deadPort() };
});

afterEach(async () => {
  await proxy?.stop();
  await stub.stop();
  await target.stop();
});

const TOKEN = "very-secret-token";

const settings = (changes: Record<string, string> = {}): Record<string, string> => ({
  TARGET_WORKLOAD: "sftp",
  TARGET_HOST: "127.0.0.1",
  PORT_MAPPINGS: `${ports.listen}:${target.port}`,
  HEALTH_PORT: `${ports.health}`,
  CPLN_ENDPOINT: stub.url,
  CPLN_ORG: "org-1",
  CPLN_GVC: "/org/org-1/gvc/demo",
  CPLN_WORKLOAD: "/org/org-1/gvc/demo/workload/proxy",
  CPLN_LOCATION: "/org/org-1/location/loc-1",
  CPLN_TOKEN: TOKEN,
  ...changes,
});

async function start(changes: Record<string, string> = {}, options: { descriptors?: number } = {}) {
  proxy = new ProxyProcess(settings(changes), options);
  await proxy.logged("started");
  return proxy;
}

async function session(): Promise<Peer> {
  const client = await connectPeer(ports.listen);
  expect(await client.text(1)).toBe("B");
  return client;
}

describe("the process", () => {
  it("says everything that is wrong with its settings, and exits with 78", async () => {
    proxy = new ProxyProcess(settings({ IDLE_HOLD: "soon", PORT_MAPPINGS: "0", DATA_PLANE: "fast" }));
    expect(await proxy.ended).toBe(78);
    const lines = proxy.stderr.trim().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines).toContainEqual(expect.stringMatching(/^IDLE_HOLD: .+ \(got "soon"\)$/));
    expect(lines).toContainEqual(expect.stringMatching(/^PORT_MAPPINGS.*: .+ \(got "0"\)$/));
    expect(lines).toContainEqual(expect.stringMatching(/^DATA_PLANE: .+ \(got "fast"\)$/));
    expect(proxy.lines).toEqual([]);
  });

  it("runs on the other plane where the native one is not there, unless that is asked for by name", async () => {
    const folder = await mkdtemp(join(tmpdir(), "proxy-"));
    const file = join(folder, "main.js");
    await copyFile(bundle, file);
    try {
      proxy = new ProxyProcess(settings({ DATA_PLANE: "native" }), { file });
      expect(await proxy.ended).toBe(78);
      expect(proxy.stderr).toMatch(/^DATA_PLANE: asks for the native plane.+ \(got "native"\)\n$/);
      await writeFile(join(folder, "splice.node"), "no library");
      proxy = new ProxyProcess(settings({ DATA_PLANE: "auto" }), { file });
      expect(await proxy.logged("started")).toMatchObject({ plane: "js" });
      expect(await proxy.logged("plane_fallback")).toHaveProperty("reason");
      await session();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("starts from the code that was compiled when it was built", async () => {
    expect(await (await start()).logged("started")).toMatchObject({ compiledAhead: true });
    await session();
  });

  it("starts without that code too, or with some that V8 does not take", async () => {
    const folder = await mkdtemp(join(tmpdir(), "proxy-"));
    const file = join(folder, "start.js");
    await copyFile(entry, file);
    await copyFile(bundle, join(folder, "main.js"));
    const other = await readFile(codeCache);
    // The second word of a cache is the version that has made it.
    other.writeUInt32LE(other.readUInt32LE(4) + 1, 4);
    try {
      for (const cache of [undefined, other, ""]) {
        if (cache !== undefined) await writeFile(join(folder, "main.cache"), cache);
        proxy = new ProxyProcess(settings({ DATA_PLANE: "js" }), { file });
        expect(await proxy.logged("started")).toMatchObject({ compiledAhead: false });
        await session();
        await proxy.stop();
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("says in the log and in /healthz which plane it runs on", async () => {
    const running = await start();
    expect(await running.logged("started")).toMatchObject({ plane: plane.name });
    const health = await (await fetch(`http://127.0.0.1:${ports.health}/healthz`)).json();
    expect(health).toMatchObject({ plane: plane.name });
  });

  it("tells its version, and refuses commands it does not know", async () => {
    const version = new ProxyProcess({}, { args: ["--version"] });
    expect(await version.ended).toBe(0);
    expect(version.lines[0]?.text).toMatch(/^\d+\.\d+\.\d+$/);
    expect(await new ProxyProcess({}, { args: ["dance"] }).ended).toBe(64);
  });

  it("says which port is taken", async () => {
    proxy = new ProxyProcess(settings({ HEALTH_PORT: `${target.port}` }));
    expect(await proxy.ended).toBe(1);
    expect(await proxy.logged("listen_failed")).toMatchObject({ port: target.port });
  });

  it("splices, and by SIGTERM ends with its last session; the token is nowhere in its output", async () => {
    const running = await start();
    const client = await session();
    running.signal("SIGTERM");
    await running.logged("listeners_closed");
    expect(await (await connectPeer(ports.listen)).ended).toBe("ECONNREFUSED");
    client.write("still there");
    expect(await client.text(11)).toBe("still there");
    client.end();
    expect(await running.ended).toBe(0);
    expect(JSON.stringify(running.lines) + running.stderr).not.toContain(TOKEN);
  });

  it("ends at once by a second signal", async () => {
    const running = await start();
    const client = await session();
    running.signal("SIGINT");
    await running.logged("draining");
    running.signal("SIGTERM");
    expect(await running.ended).toBe(143);
    expect(await client.ended).toBe("ECONNRESET");
  });

  it("is drained by its own hook, whose exit code is 0 whatever happens", async () => {
    const running = await start({ DRAIN_TIMEOUT: "1ms" });
    const client = await session();
    const hook = new ProxyProcess(settings(), { args: ["prestop"] });
    expect(await hook.ended).toBe(0);
    expect(hook.stderr).toBe("");
    expect(await running.logged("drained")).toMatchObject({ cut: 1 });
    // The drain is over: what the signal finds is ended.
    running.signal("SIGINT");
    expect(await running.ended).toBe(0);
    expect(await client.ended).toBe("ECONNRESET");
    const late = new ProxyProcess(settings(), { args: ["prestop"] });
    expect(await late.ended).toBe(0);
    expect(late.stderr).toMatch(/^prestop: /);
  });

  it("survives running out of descriptors, and serves when there are some again", async () => {
    const running = await start({}, { descriptors: 30 });
    expect(await running.logged("descriptor_limit")).toMatchObject({ limit: 30 });
    const crowd = await Promise.all(Array.from({ length: 120 }, () => connectPeer(ports.listen)));
    const refused = await Promise.race(crowd.map(({ ended }) => ended));
    expect(["end", "ECONNRESET", "close"]).toContain(refused);
    for (const peer of crowd) peer.socket.destroy();
    await Promise.all(crowd.map(({ closed }) => closed));
    for (;;) {
      const client = await connectPeer(ports.listen);
      if ((await client.text(1)) === "B") break;
    }
    expect(running.child.exitCode).toBeNull();
  });
});
