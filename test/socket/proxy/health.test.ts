import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { healthBody } from "../../../proxy-image/src/http/report.ts";
import { openHealthServer } from "../../../proxy-image/src/http/server.ts";
import { eventually } from "../../support/eventually.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import {
  MemoryApi,
  proxySettings,
  type RunningProxy,
  startProxy,
  targetSettings,
} from "../../support/proxy.ts";
import { echoing, silent, TestTarget } from "../../support/target.ts";

let target: TestTarget;
let proxy: RunningProxy;
let health: Server;
let clock: ManualClock;
let base: string;

/** A proxy with its health server; the target says `B` as soon as `behaviour` is changed. */
async function start(api: MemoryApi): Promise<void> {
  clock = new ManualClock();
  proxy = await startProxy({ settings: proxySettings([targetSettings(target.port)]), api, clock });
  health = await openHealthServer({
    host: "127.0.0.1",
    port: 0,
    health: () => healthBody(proxy.server.report(), { version: "1.2.3", plane: "js" }, clock.wall()),
    ready: () => proxy.server.ready,
    drain: () => proxy.server.drain.withdraw(),
  });
  base = `http://127.0.0.1:${(health.address() as AddressInfo).port}`;
}

const body = async (path = "/healthz") =>
  (await (await fetch(base + path)).json()) as Record<string, unknown>;
const status = async (path: string, method = "GET") => (await fetch(base + path, { method })).status;

/** A client, once it is spliced. The manual clock has to go on for the target's poll. */
async function spliced() {
  const client = await proxy.connect();
  await eventually(() => {
    clock.advance(1);
    return client.bytesReceived > 0;
  });
  return client;
}

beforeEach(async () => {
  target = await TestTarget.start(silent);
});

afterEach(async () => {
  proxy.server.stop();
  health.closeAllConnections();
  health.close();
  await target.stop();
});

describe("the health port", () => {
  it("says who is held, who is spliced, and what is being done", async () => {
    await start(new MemoryApi({ suspended: true }));
    await eventually(() => proxy.server.report().targets[0]?.report.phase === "suspended");
    expect(await body()).toMatchObject({
      activeConnections: 0,
      wakeInProgress: false,
      lifecycle: "serving",
      version: "1.2.3",
      plane: "js",
      targets: [{ workload: "sftp", gvc: "demo", phase: "suspended", held: 0, spliced: 0, conditions: [] }],
    });
    const client = await proxy.connect();
    await eventually(() => proxy.active() === 1);
    expect(await body()).toMatchObject({ activeConnections: 1, wakeInProgress: true, held: 1, spliced: 0 });
    target.behaviour = echoing("B");
    await eventually(() => {
      clock.advance(10);
      return client.bytesReceived > 0;
    });
    expect(await body()).toMatchObject({ activeConnections: 1, wakeInProgress: false, held: 0, spliced: 1 });
    client.socket.destroy();
  });

  it("stays healthy and ready while the API fails, and says what is wrong", async () => {
    const api = new MemoryApi();
    api.readWorkload = async () => ({
      ok: false,
      failure: { kind: "denied", message: "HTTP 403: identity proxy is not granted [view]" },
    });
    await start(api);
    await eventually(() => proxy.server.report().targets[0]?.report.conditions.length === 1);
    expect(await status("/healthz")).toBe(200);
    expect(await status("/readyz")).toBe(200);
    expect(await body()).toMatchObject({
      targets: [
        {
          phase: "unknown",
          conditions: [
            {
              type: "reads_failing",
              reason: expect.stringContaining("not granted [view]"),
              since: expect.stringMatching(/^2026-01-01T/),
              nextTryAt: expect.stringMatching(/^2026-01-01T/),
            },
          ],
        },
      ],
    });
  });

  it("knows three paths", async () => {
    await start(new MemoryApi());
    expect(await status("/")).toBe(404);
    expect(await status("/drain")).toBe(404);
    expect(await status("/healthz?verbose", "HEAD")).toBe(200);
    expect(await status("/healthz", "POST")).toBe(404);
  });

  it("does not drain for anybody but the replica itself", async () => {
    await start(new MemoryApi());
    const { port } = health.address() as AddressInfo;
    // Where the mesh's sidecar speaks from.
    const stranger = connect({ host: "127.0.0.1", port, localAddress: "127.0.0.6" });
    stranger.end("POST /drain HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    const [answer] = (await once(stranger, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 403 /);
    expect(proxy.server.ready).toBe(true);
    stranger.destroy();
  });
});

describe("a drain", () => {
  it("turns unready at once, serves while the load balancer withdraws, and waits for sessions", async () => {
    await start(new MemoryApi());
    target.behaviour = echoing("B");
    const session = await spliced();
    let drained = false;
    const done = fetch(`${base}/drain`, { method: "POST" }).then((response) => {
      drained = true;
      return response.status;
    });
    await eventually(() => !proxy.server.ready);
    expect(await status("/readyz")).toBe(503);
    expect(await status("/healthz")).toBe(200);
    const late = await spliced();
    clock.advance(10_000);
    await expect(proxy.connect().then(({ ended }) => ended)).resolves.toBe("ECONNREFUSED");
    late.end();
    await late.closed;
    session.write("still there");
    expect(await session.text(12)).toBe("Bstill there");
    expect(drained).toBe(false);
    session.end();
    expect(await done).toBe(200);
    expect(proxy.lines.find(({ event }) => event === "drained")).toMatchObject({ cut: 0 });
    expect(proxy.api.writes).toEqual([]);
  });

  it("is over when its time is up, whoever is there", async () => {
    await start(new MemoryApi());
    target.behaviour = echoing("B");
    const session = await spliced();
    const done = proxy.server.drain.withdraw();
    clock.advance(74_999);
    expect(proxy.server.drain.phase).toBe("finishing");
    clock.advance(1);
    await done;
    expect(proxy.lines.find(({ event }) => event === "drained")).toMatchObject({ cut: 1 });
    proxy.server.stop();
    expect(await session.ended).toBe("ECONNRESET");
  });

  it("by a signal takes no more clients, and held ones keep their deadline", async () => {
    await start(new MemoryApi({ suspended: true }));
    const held = await proxy.connect();
    await eventually(() => proxy.active() === 1);
    const done = proxy.server.drain.stop("SIGTERM");
    await expect(proxy.connect().then(({ ended }) => ended)).resolves.toBe("ECONNREFUSED");
    expect(proxy.active()).toBe(1);
    target.behaviour = echoing("B");
    await eventually(() => {
      clock.advance(10);
      return held.bytesReceived > 0;
    });
    held.end();
    await done;
  });

  it("awaits a suspend on its way, and sends none after it", async () => {
    let answer = () => {};
    const api = new MemoryApi();
    api.beforeWrite = () => new Promise<void>((resolve) => (answer = resolve));
    await start(api);
    target.behaviour = echoing("B");
    const client = await spliced();
    client.end();
    await eventually(() => {
      clock.advance(1_000);
      return api.writes.length === 1;
    });
    let over = false;
    const done = proxy.server.drain.stop("SIGTERM").then(() => {
      over = true;
    });
    clock.advance(1_000);
    expect(over).toBe(false);
    answer();
    await done;
    clock.advance(600_000);
    expect(api.writes).toEqual([{ suspend: true, version: 1 }]);
  });
});
