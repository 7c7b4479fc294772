/**
 * The proxy's image, really built and really run: as the proxy workload that the component makes, by the real engine,
 * on the local platform.
 */
import { execFile, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pinnedNode } from "../../simulator/src/images/index.ts";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { ResourceKey } from "../../simulator/src/model.ts";
import { defaultImage, version } from "../../src/index.ts";
import { environmentAlone } from "../../tools/image/measure.ts";
import { environmentOf, sandboxed } from "../../tools/image/sandbox.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { addonFile } from "../../tools/native.ts";
import { connectPeer } from "../support/client.ts";
import { type BuiltImage, builtTwice, imageInSandbox, whyNoImage } from "../support/image.ts";
import { Place } from "./support/place.ts";
import { openEchoSession } from "./support/ssh.ts";

const run = promisify(execFile);
const sha256 = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
const reason = await whyNoImage();
if (reason !== undefined) console.error(`image: skipped, ${reason}`);

describe.skipIf(reason !== undefined)("the image", () => {
  let image: BuiltImage;
  beforeAll(async () => {
    image = await builtTwice();
  }, 600_000);
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
    const bundle = ["main.cache", "main.js", "start.js"];
    for (const name of bundle)
      expect(sha256(join(image.root, "app", name)), name).toBe(sha256(fromRoot("proxy-image/dist", name)));
    expect(sha256(join(image.root, "usr/local/bin/node"))).toBe(sha256(pinnedNode()));
    // Not a copy: nothing compiled gets into the build, so that these are the bytes of two compilers' runs.
    expect(sha256(join(image.root, "app/splice.node"))).toBe(sha256(addonFile));
    expect(readdirSync(join(image.root, "app")).sort()).toEqual(
      [...["licenses-node.txt", "licenses.txt", "sbom.cdx.json", "splice.node"], ...bundle].sort(),
    );
  });

  it("holds no shell, no package manager, and nothing that gives rights", async () => {
    const programs = await run("find", [image.root, "-type", "f", "-perm", "/111", "-not", "-name", "*.so*"]);
    expect(programs.stdout.trim()).toBe(join(image.root, "usr/local/bin/node"));
    const rights = await run("find", [image.root, "-perm", "/6000"]);
    expect(rights.stdout).toBe("");
  });

  it("holds nothing that its own user may write", async () => {
    const [uid, gid] = image.builds[0].config.config.User.split(":");
    const own = ["-user", `${uid}`, "-perm", "-200"];
    const ofGroup = ["-group", `${gid}`, "-perm", "-020"];
    const writable = [...own, "-o", ...ofGroup, "-o", "-perm", "-002"];
    const found = await run("find", [image.root, "-not", "-type", "l", "(", ...writable, ")"]);
    expect(found.stdout).toBe("");
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

  it("has the libraries that the native plane asks for", async () => {
    const { stdout } = await inImage("node", "-p", 'Object.keys(require("/app/splice.node")).join()');
    expect(stdout).toContain("SplicePlane");
  });

  it("asks for no newer glibc than the documented bases have", () => {
    const [, documented = 0] =
      /glibc 2\.(\d+) or later/.exec(readFileSync(fromRoot("docs/image.md"), "utf8")) ?? [];
    for (const file of ["app/splice.node", "usr/local/bin/node"]) {
      const versions = readFileSync(join(image.root, file), "latin1").matchAll(
        /\0GLIBC_2\.(\d+)(?=[.\d]*\0)/g,
      );
      const minors = [...versions].map(([, minor]) => Number(minor));
      expect(minors.length, file).toBeGreaterThan(0);
      expect(Math.max(...minors), file).toBeLessThanOrEqual(Number(documented));
    }
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
    expect(crates.length).toBeGreaterThan(0);
    const rust = bill.components.find(({ name }) => name === "rust-std") ?? { name: "no Rust", version: "" };
    const licences = readFileSync(join(image.root, "app/licenses.txt"), "utf8");
    const linked = [...crates, rust].map((each) => `${each.name} ${each.version}`);
    for (const each of [`scale-to-zero-proxy ${version}`, ...listed, ...linked]) {
      expect(licences).toContain(each);
    }
  });

  it("says of what others have made how it may be passed on: of Node, and of each library of the base", () => {
    expect(readFileSync(join(image.root, "app/licenses-node.txt"), "utf8")).toContain("Node.js");
    const documents = join(image.root, "usr/share/doc");
    for (const library of ["libc6", "libgcc-s1", "libstdc++6", "ca-certificates"]) {
      expect(readFileSync(join(documents, library, "copyright"), "utf8"), library).not.toBe("");
    }
  });

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
      expect(JSON.parse(line)).toMatchObject({ version, plane: "native", compiledAhead: true });
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

  it("wakes, splices and drains as the proxy of the demo, for a real SSH client and a real server", async () => {
    const place = await Place.open({
      images: [imageInSandbox(image)],
      idleHold: "1m",
      graceSeconds: 30,
    });
    try {
      await place.stack.up();
      const { name: old, pids } = await place.ready();
      expect(rootOf(pids[0])).toEqual({
        program: join(image.root, "usr/local/bin/node"),
        user: "65532",
        root: "ro",
      });
      expect(place.simulator.platform.snapshot(place.target).suspendedStatus).toBe("suspended");

      const [local, back] = ["sent.bin", "back.bin"].map((name) => join(place.session.dir, name));
      if (local === undefined || back === undefined) throw new Error("no files");
      writeFileSync(local, randomBytes(4 * 1024 * 1024));
      const endpoint = await place.endpoint();
      await place.client.roundTrip(endpoint, { local, remote: "upload.bin", back });
      expect(sha256(back)).toBe(sha256(local));
      expect(place.lines.find(({ event }) => event === "started")).toMatchObject({ plane: "native" });

      const session = await openEchoSession(place.session.dir, endpoint);
      expect(await session.echo("before\n")).toBe("before\n");
      if (process.env.REQUIRE_REAL_PEERS === "1") {
        const client = await connectPeer(endpoint.port, { host: endpoint.host });
        client.write("SSH-2.0-test\r\n");
        expect(await client.text(15)).toBe("SSH-2.0-OpenSSH");
        client.end();
      }

      // A changed setting rolls the proxy: the old replica's preStop drains it while its session lives.
      await place.stack.setConfig("idleHold", { value: "2m" });
      await place.stack.up();
      expect(await place.logged("draining", { replica: old })).toMatchObject({ cause: "asked" });
      expect(await session.echo("while it drains\n")).toBe("while it drains\n");
      await session.end();
      expect(await place.logged("drained", { replica: old })).toMatchObject({ cut: 0 });
      const gone = ({ replicas }: { replicas: { name: string }[] }) =>
        !replicas.some(({ name }) => name === old);
      await place.simulator.platform.when(place.proxy, gone, 60_000);
      expect(place.accepted).toEqual(["wake"]);
      const errors = place.simulator.platform.logs(place.proxy).filter(({ stream }) => stream === "stderr");
      expect(errors).toEqual([]);
    } finally {
      await place.dispose();
    }
  });
});

/** What a process is confined to, as the kernel says. */
function rootOf(pid = 0) {
  const [, user] = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  const mounts = readFileSync(`/proc/${pid}/mounts`, "utf8").split("\n");
  const [, , , options = ""] = mounts.findLast((line) => line.split(" ")[1] === "/")?.split(" ") ?? [];
  return { program: readlinkSync(`/proc/${pid}/exe`), user, root: options.split(",")[0] };
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
