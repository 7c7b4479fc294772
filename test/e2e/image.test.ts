/**
 * The proxy's image, really built and really run: as the proxy workload that the component makes, by the real engine,
 * on the local platform.
 */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import * as cpln from "@pulumiverse/cpln";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pinnedNode } from "../../simulator/src/images/index.ts";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { ResourceKey } from "../../simulator/src/model.ts";
import { defaultImage, ignoreSuspend, proxyWorkloadLink, ScaleToZeroTcp, version } from "../../src/index.ts";
import { environmentAlone } from "../../tools/image/measure.ts";
import { environmentOf, sandboxed } from "../../tools/image/sandbox.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { withInlineStack } from "../support/engine.ts";
import { type BuiltImage, builtTwice, imageInSandbox, whyNoImage } from "../support/image.ts";

const run = promisify(execFile);
const sha256 = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
const reason = whyNoImage();
if (reason !== undefined) console.error(`image: skipped, ${reason}`);

describe.skipIf(reason !== undefined)("the image", () => {
  let image: BuiltImage;
  beforeAll(async () => {
    image = await builtTwice();
  }, 300_000);
  afterAll(() => image?.dispose());

  const inImage = (...command: string[]) => {
    const { config } = image.builds[0];
    const [program = "", ...rest] = [...sandboxed(image.root, config), ...command];
    return run(program, rest, { env: { ...process.env, ...environmentOf(config) } });
  };

  it("is the same to the last byte when it is built again", () => {
    const [first, second] = image.builds;
    expect(second.digest).toBe(first.digest);
  });

  it("has the package's version, and says where it comes from", () => {
    const { Labels } = image.builds[0].config.config;
    expect(Labels["org.opencontainers.image.version"]).toBe(version);
    expect(defaultImage).toMatch(new RegExp(`/${Labels["org.opencontainers.image.title"]}:${version}$`));
    expect(Labels["org.opencontainers.image.revision"]).toMatch(/^[0-9a-f]{40}/);
    expect(Labels["org.opencontainers.image.source"]).toMatch(/^https:/);
    expect(Labels["org.opencontainers.image.licenses"]).toBe("Apache-2.0");
  });

  it("holds the files that the simulator's catalogue runs, and few others", () => {
    expect(sha256(join(image.root, "app/main.js"))).toBe(sha256(fromRoot("proxy-image/dist/main.js")));
    expect(sha256(join(image.root, "usr/local/bin/node"))).toBe(sha256(pinnedNode()));
    const plane = fromRoot("proxy-image/dist/splice.node");
    const planes = existsSync(plane) ? ["splice.node"] : [];
    for (const name of planes) expect(sha256(join(image.root, "app", name))).toBe(sha256(plane));
    expect(readdirSync(join(image.root, "app")).sort()).toEqual(
      ["licenses.txt", "main.js", "sbom.cdx.json", ...planes].sort(),
    );
  });

  it("holds no shell, no package manager, and nothing that gives rights", async () => {
    const programs = await run("find", [image.root, "-type", "f", "-perm", "/111", "-not", "-name", "*.so*"]);
    expect(programs.stdout.trim()).toBe(join(image.root, "usr/local/bin/node"));
    const rights = await run("find", [image.root, "-perm", "/6000"]);
    expect(rights.stdout).toBe("");
  });

  it("is at most 60 MB in a registry", () => {
    const bytes = image.builds[0].layers.reduce((sum, layer) => sum + layer.bytes, 0);
    expect(bytes).toBeLessThan(60_000_000);
  });

  it("runs as its own user, with no capability, on a file system that it can't write", async () => {
    const look = `
      const status = require("node:fs").readFileSync("/proc/self/status", "utf8");
      let write = "worked";
      try { require("node:fs").writeFileSync("/app/x", ""); } catch (error) { write = error.code; }
      const field = (name) => new RegExp("^" + name + ":\\\\s+(.*)$", "m").exec(status)[1];
      console.log(JSON.stringify({ uid: process.getuid(), gid: process.getgid(), write,
        effective: field("CapEff"), permitted: field("CapPrm"), noNewPrivs: field("NoNewPrivs") }));`;
    const { stdout } = await inImage("node", "-e", look);
    const none = "0000000000000000";
    expect(JSON.parse(stdout)).toEqual({
      ...{ uid: 65532, gid: 65532, write: "EROFS" },
      ...{ effective: none, permitted: none, noNewPrivs: "1" },
    });
  });

  it("has the libraries that the native plane asks for", async ({ skip }) => {
    if (!existsSync(join(image.root, "app/splice.node"))) skip("no native plane was built here");
    const { stdout } = await inImage("node", "-p", 'Object.keys(require("/app/splice.node")).join()');
    expect(stdout).toContain("SplicePlane");
  });

  it("says what is in it: on the command line, in its bill of materials, in its list of licences", async () => {
    const { stdout } = await inImage("node", "/app/main.js", "--version", "--verbose");
    const [own, runtime, ...bundled] = stdout.trim().split("\n");
    expect(own).toBe(`scale-to-zero-proxy ${version}`);
    expect(runtime).toMatch(/^node 24\./);
    const bill: { components: { name: string; version: string; purl: string }[] } = JSON.parse(
      readFileSync(join(image.root, "app/sbom.cdx.json"), "utf8"),
    );
    const listed = bill.components
      .filter(({ purl }) => purl.startsWith("pkg:npm/"))
      .map((each) => `${each.name} ${each.version}`);
    expect(bundled.map((line) => line.replace(/ \(.*\)$/, ""))).toEqual(listed);
    expect(listed).toContain(
      `zod ${JSON.parse(readFileSync(fromRoot("package.json"), "utf8")).dependencies.zod}`,
    );
    const crates = bill.components.filter(({ purl }) => purl.startsWith("pkg:cargo/"));
    expect(crates.length > 0).toBe(existsSync(join(image.root, "app/splice.node")));
    const licences = readFileSync(join(image.root, "app/licenses.txt"), "utf8");
    const linked = crates.map((each) => `${each.name} ${each.version}`);
    for (const each of [`scale-to-zero-proxy ${version}`, ...listed, ...linked]) {
      expect(licences).toContain(each);
    }
  });

  /** The native one, where the image holds it and the bundle knows of it. */
  const expectedPlane = () =>
    existsSync(join(image.root, "app/splice.node")) &&
    readFileSync(join(image.root, "app/main.js"), "utf8").includes("splice.node")
      ? "native"
      : "js";

  it("ends in order as the first process of a container, which the kernel spares unhandled signals", async () => {
    const { config } = image.builds[0];
    const [unshare = "", ...around] = sandboxed(image.root, config);
    const child = spawn(
      unshare,
      ["--pid", "--fork", "--kill-child", ...around, ...config.config.Entrypoint],
      { env: await environmentAlone(image.builds[0]), stdio: ["ignore", "pipe", "inherit"] },
    );
    const ended = once(child, "close");
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.includes('"event":"started"')) continue;
      expect(JSON.parse(line)).toMatchObject({ version, plane: expectedPlane() });
      const inner = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
      expect(readFileSync(`/proc/${inner}/status`, "utf8")).toMatch(/^NSpid:\t\d+\t1$/m);
      process.kill(inner, "SIGTERM");
    }
    expect((await ended)[0]).toBe(0);
  });

  it.each(["SIGTERM", "SIGINT"] as const)("ends in order on %s", async (signal) => {
    await using simulator = await startSimulator({ workloads: { images: [imageInSandbox(image)] } });
    const key = proxyAlone(simulator);
    const { replicas } = await simulator.platform.when(key, ({ ready }) => ready === 1);
    const pid = replicas[0]?.pids[0];
    if (pid === undefined) throw new Error("the proxy has no process");
    expect(readlinkSync(`/proc/${pid}/exe`)).toMatch(/\/usr\/local\/bin\/node$/);
    process.kill(pid, signal);
    await simulator.platform.when(key, () =>
      simulator.platform.logs(key).some(({ text }) => text.includes('"event":"stopped"')),
    );
    const stopped = simulator.platform.logs(key).find(({ text }) => text.includes('"event":"stopped"'));
    expect(JSON.parse(stopped?.text ?? "{}")).toMatchObject({ code: 0 });
  });

  it("wakes, splices and drains as the workload that the component makes", async () => {
    const org = "acme";
    await using simulator = await startSimulator({
      org,
      gvcs: ["demo"],
      workloads: { images: [imageInSandbox(image)] },
    });
    const workload = (name: string): ResourceKey => ({ org, kind: "workload", gvc: "demo", name });
    const { platform } = simulator;
    let maxHeld = 100;
    await withInlineStack(
      async () => componentInFront(maxHeld),
      async (stack) => {
        await stack.up();
        const proxy = workload("echo-proxy");
        await platform.when(proxy, ({ ready }) => ready === 1);
        expect(platform.snapshot(workload("echo")).suspendedStatus).toBe("suspended");

        const client = await connected(await platform.endpoint(proxy, servedPort));
        expect(await client.says(/^220 .* ready\r\n/)).toBeTruthy();
        client.socket.write("through the image\n");
        expect(await client.says(/through the image\n/)).toBeTruthy();

        // A changed setting rolls the proxy: the old replica's preStop drains it while its session lives.
        const old = platform.snapshot(proxy).replicas[0]?.name ?? "";
        maxHeld = 101;
        await stack.up();
        await platform.when(proxy, ({ draining }) => draining === 1);
        const logged = (event: string) => () =>
          platform
            .logs(proxy)
            .some(({ text, replica }) => replica === old && text.includes(`"event":"${event}"`));
        await platform.when(proxy, logged("draining"));
        client.socket.write("while it drains\n");
        expect(await client.says(/while it drains\n/)).toBeTruthy();

        client.socket.end();
        await platform.when(proxy, logged("drained"), 60_000);
        await platform.when(proxy, ({ replicas }) => !replicas.some(({ name }) => name === old), 60_000);
        const drained = platform.logs(proxy).find(({ text }) => text.includes('"event":"drained"'));
        expect(JSON.parse(drained?.text ?? "{}")).toMatchObject({ cut: 0 });
        expect(platform.logs(proxy).filter(({ stream }) => stream === "stderr")).toEqual([]);
      },
      {
        env: { CPLN_ENDPOINT: simulator.apiUrl, CPLN_ORG: org, CPLN_TOKEN: simulator.deployerToken },
      },
    );
  });
});

/** One that is known for no protocol: a banner proves it. */
const servedPort = 7070;

function componentInFront(maxHeld: number): void {
  const echo = new cpln.Workload(
    "echo",
    {
      name: "echo",
      gvc: "demo",
      type: "standard",
      containers: [
        { name: "echo", image: "echo-banner:1", ports: [{ number: servedPort, protocol: "tcp" }] },
      ],
      options: {
        suspend: true,
        autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 },
        capacityAi: false,
      },
      firewallSpec: {
        internal: {
          inboundAllowType: "workload-list",
          inboundAllowWorkloads: [proxyWorkloadLink({ gvc: "demo", name: "echo" })],
        },
      },
    },
    { ignoreChanges: ignoreSuspend },
  );
  new ScaleToZeroTcp("echo", {
    gvc: "demo",
    target: echo,
    ports: [{ port: servedPort }],
    allow: ["127.0.0.0/8"],
    maxHeld,
  });
}

/** A proxy that nobody calls: only its process matters. */
function proxyAlone(simulator: Simulator): ResourceKey {
  const key = { org: simulator.org, kind: "workload", gvc: "demo", name: "proxy" };
  const time = new Date(0).toISOString();
  simulator.store.put(key, {
    ...{ id: "proxy", kind: "workload", name: "proxy", version: 1, description: "", tags: {}, gvc: "demo" },
    ...{ created: time, lastModified: time },
    spec: {
      type: "standard",
      containers: [
        {
          name: "proxy",
          image: defaultImage,
          memory: "128Mi",
          ports: [{ number: 2022, protocol: "tcp" }],
          env: [
            { name: "TARGET_WORKLOAD", value: "echo" },
            { name: "PORT_MAPPINGS", value: "2022" },
          ],
          readinessProbe: {
            httpGet: { path: "/readyz", port: 8081 },
            initialDelaySeconds: 1,
            periodSeconds: 1,
          },
        },
      ],
      defaultOptions: { suspend: false, autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 } },
    },
  });
  return key;
}

async function connected({ host, port }: { host: string; port: number }) {
  const socket = net.connect({ host, port });
  await once(socket, "connect");
  let heard = "";
  const listeners = new Set<() => void>();
  socket.setEncoding("utf8").on("data", (text: string) => {
    heard += text;
    for (const listener of listeners) listener();
  });
  return {
    socket,
    says: (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(heard)?.[0];
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        socket.once("close", () => reject(new Error(`closed after ${JSON.stringify(heard)}`)));
        look();
      }),
  };
}
