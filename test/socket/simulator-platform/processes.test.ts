import { existsSync, readFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  echoBannerImage,
  matchesName,
  pinnedNode,
  processImage,
} from "../../../simulator/src/images/index.ts";
import type { ResourceKey } from "../../../simulator/src/model.ts";
import { createWorld, echoSpec, ending, firstBytes, org, resource, type World } from "./world.ts";

/** A real process that says one JSON line for what its program finds out. */
const witness = (program: string) =>
  processImage({
    description: "a witness",
    matches: matchesName("witness"),
    spec: { command: [pinnedNode(), "-e", `(async () => { ${program} })(); setInterval(() => {}, 1e6);`] },
  });

const witnessSpec = (more = {}) =>
  echoSpec({
    identityLink: "//identity/i",
    containers: [{ name: "main", image: "witness", ports: [{ number: 8080, protocol: "tcp" }], ...more }],
  });

const says = async (world: World, key: ResourceKey): Promise<Record<string, string>> => {
  const line = await world.logLine(key, (text) => text.startsWith("{"));
  return JSON.parse(line) as Record<string, string>;
};

describe("real processes", () => {
  let world: World;
  afterEach(() => world.dispose());

  test("get the platform's variables in their real forms, and their own", async () => {
    world = await createWorld({ more: [witness("console.log(JSON.stringify(process.env))")] });
    world.store.put(
      { org, kind: "secret", name: "db" },
      resource("secret", "db", 1, { type: "dictionary", data: { password: "hush" } }),
    );
    const env = [
      { name: "PLAIN", value: "v" },
      { name: "PASSWORD", value: "cpln://secret/db.password" },
      { name: "LISTEN_HOST", value: "0.0.0.0" },
    ];
    const key = world.write("target", witnessSpec({ env }));
    const [replica] = (await world.platform.when(key, (seen) => seen.ready === 1)).replicas;
    expect(await says(world, key)).toMatchObject({
      CPLN_ENDPOINT: "http://127.0.0.1:1",
      CPLN_ORG: "acme",
      CPLN_GVC: "shop",
      CPLN_GVC_ALIAS: "abc123",
      CPLN_WORKLOAD: "/org/acme/gvc/shop/workload/target",
      CPLN_LOCATION: "/org/acme/location/aws-eu-1",
      CPLN_PROVIDER: "aws",
      CPLN_WORKLOAD_VERSION: "1",
      CPLN_IMAGE: "witness",
      CPLN_NAME: "main",
      CPLN_MAIN: "true",
      CPLN_GLOBAL_ENDPOINT: "https://target-abc123.cpln.app",
      HOSTNAME: replica?.name,
      LISTEN_HOST: replica?.address,
      PLAIN: "v",
      PASSWORD: "hush",
    });
  });

  test("hold a token that is worth nothing from another address", async () => {
    world = await createWorld({ more: [witness("console.log(JSON.stringify(process.env))")] });
    const key = world.write("target", witnessSpec());
    const [replica] = (await world.platform.when(key, (seen) => seen.ready === 1)).replicas;
    const token = (await says(world, key)).CPLN_TOKEN ?? "";
    const own = replica?.address ?? "";
    expect(world.platform.workloadOf(token, own)).toEqual({ workload: key, attested: true });
    expect(world.platform.workloadOf(token, `::ffff:${own}`)).toEqual({ workload: key, attested: true });
    expect(world.platform.workloadOf(token, "127.0.0.1")).toEqual({ workload: key, attested: false });
    expect(world.platform.workloadOf("made-up", own)).toBeUndefined();
  });

  test("find neighbours by every form of their name, and are known to them by their address", async () => {
    const program = `
      const net = require("node:net");
      const names = ["target", "target.shop.cpln.local", "target.aws-eu-1.shop.cpln.local"];
      const seen = {};
      for (const host of names) {
        const socket = net.connect({ host, port: 2022 });
        seen[host] = String(await new Promise((resolve, reject) => {
          socket.once("data", resolve);
          socket.once("error", reject);
        }));
        socket.destroy();
      }
      console.log(JSON.stringify(seen));`;
    world = await createWorld({ more: [echoBannerImage(), witness(program)] });
    const target = world.write("target", echoSpec());
    await world.platform.when(target, (seen) => seen.ready === 1);
    const caller = world.write("caller", witnessSpec());
    const seen = await says(world, caller);
    expect(Object.keys(seen)).toHaveLength(3);
    expect(world.platform.connections(target)).toMatchObject(
      [1, 2, 3].map(() => ({ caller, outcome: "relayed" })),
    );
  });

  test("call the API from their own address, whichever way they call it", async () => {
    const seen: string[] = [];
    const api = http.createServer((request, response) => {
      seen.push(`${request.url} ${request.socket.remoteAddress}`);
      response.end("ok");
    });
    await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
    const { port } = api.address() as AddressInfo;
    const program = `
      const http = require("node:http");
      const base = process.env.CPLN_ENDPOINT;
      await fetch(base + "/fetch").then((r) => r.text());
      const agent = new http.Agent({ keepAlive: true });
      for (const options of [{}, { agent }]) {
        await new Promise((resolve) => http.get(base + "/http", options, (r) => r.resume().on("end", resolve)));
      }
      const { port } = new URL(base);
      await new Promise((resolve) => require("node:net").connect(Number(port), "127.0.0.1").end("GET /net HTTP/1.1\\r\\nhost: a\\r\\nconnection: close\\r\\n\\r\\n").resume().on("close", resolve));
      agent.destroy();
      console.log(JSON.stringify({ done: true }));`;
    world = await createWorld({ more: [witness(program)], apiUrl: () => `http://127.0.0.1:${port}` });
    const key = world.write("caller", witnessSpec());
    const [replica] = (await world.platform.when(key, (now) => now.ready === 1)).replicas;
    await says(world, key);
    expect(seen).toEqual(["/fetch", "/http", "/http", "/net"].map((path) => `${path} ${replica?.address}`));
    api.closeAllConnections();
    await new Promise((resolve) => api.close(resolve));
  });

  test("wait in vain for a name that does not exist, and are never told so", async () => {
    const program = `
      const failed = await require("node:dns/promises").lookup("nowhere.shop.cpln.local").catch((e) => e);
      console.log(JSON.stringify({ code: failed.code }));`;
    world = await createWorld({ more: [witness(program)] });
    const env = [{ name: "SIMULATOR_NAME_TIMEOUT_MS", value: "100" }];
    const key = world.write("caller", witnessSpec({ env }));
    expect(await says(world, key)).toEqual({ code: "EAI_AGAIN" });
  });

  test("are killed, children included, when their grace is over", async () => {
    const program = `
      const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"]);
      console.log(JSON.stringify({ child: child.pid }));`;
    world = await createWorld({ paused: true, graceMs: 5_000, more: [witness(program)] });
    const key = world.write("target", witnessSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    const child = Number((await says(world, key)).child);
    const [main] = world.platform.snapshot(key).replicas[0]?.pids ?? [];
    world.suspend(key, true);
    world.clock.advance(4_999);
    expect(isAlive(main)).toBe(true);
    world.clock.advance(1);
    await world.platform.when(key, (seen) => seen.replicas.length === 0);
    expect(isAlive(main)).toBe(false);
    expect(isAlive(child)).toBe(false);
  });

  test("leave nothing behind when the platform is disposed of", async () => {
    world = await createWorld({ more: [echoBannerImage()] });
    const key = world.write("target", echoSpec(container({ image: "echo-banner:1" })));
    const [replica] = (await world.platform.when(key, (seen) => seen.ready === 1)).replicas;
    const caller = world.platform.impersonate(key);
    await world.logLine(key, (text) => text.startsWith("listening"));
    const socket = world.dial(key, 2022, caller.address);
    expect(await firstBytes(socket)).toBe(`220 ${replica?.name} ready\r\n`);
    const ended = ending(socket);
    await world.platform.dispose();
    await ended;
    expect(replica?.pids.map(isAlive)).toEqual([false]);
  });

  test("are restarted with growing pauses when they fall over", async () => {
    world = await createWorld({ paused: true, more: [witness("process.exit(3)")] });
    const key = world.write("target", witnessSpec());
    // The first restart is due at once; from then on pauses double.
    await world.platform.when(key, (seen) => seen.replicas[0]?.reason === "CrashLoopBackOff");
    world.clock.advance(0);
    await world.platform.when(key, (seen) => seen.replicas[0]?.restarts === 2);
    expect(world.platform.deployments(key)).toMatchObject([
      {
        status: {
          ready: false,
          message: expect.stringContaining("CrashLoopBackOff"),
          versions: [{ containers: { main: { restarts: { count: 2, exitCode: 3, reason: "Error" } } } }],
        },
      },
    ]);
  });
});

const container = (more: object) => ({
  containers: [{ name: "main", ports: [{ number: 2022, protocol: "tcp" }], ...more }],
});

/** A killed child whose new parent has not collected it yet is dead, too. */
function isAlive(pid: number | undefined): boolean {
  const path = `/proc/${pid}/stat`;
  if (pid === undefined || !existsSync(path)) return false;
  return !/^\d+ \(.*\) Z/.test(readFileSync(path, "utf8"));
}
