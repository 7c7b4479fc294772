import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtInImages, proxyImage } from "../../../simulator/src/images/index.ts";
import { createWorld, echoSpec, type World } from "./world.ts";

describe("the catalogue", () => {
  test.each([
    ["ghcr.io/controlplane-com/scale-to-zero-proxy:0.2.0", "the proxy of this checkout"],
    ["//image/scale-to-zero-proxy:dev", "the proxy of this checkout"],
    ["ghcr.io/controlplane-com/scale-to-zero-proxy@sha256:00", "the proxy of this checkout"],
    ["example/sftp:latest", "an SSH and SFTP server"],
    ["echo-banner", "says a banner"],
    ["example/unknown", undefined],
  ])("%s", (image, description) => {
    const found = builtInImages().find(image)?.description;
    if (description === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(description);
  });
});

describe("the proxy's image", () => {
  let world: World;
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "proxy-image-"));
  });
  afterEach(async () => {
    await world.dispose();
    await rm(folder, { recursive: true });
  });
  const spec = (command: string[]) => {
    const preStop = { exec: { command } };
    return echoSpec({
      containers: [{ name: "proxy", image: "scale-to-zero-proxy:1", ports: [], lifecycle: { preStop } }],
    });
  };
  const start = async (command: string[]) => {
    const main = join(folder, "main.js");
    const program = `console.log(["ran", ...process.argv.slice(2), process.env.LISTEN_HOST].join(" "));
      if (process.argv.length === 2) setInterval(() => {}, 1e6);`;
    await writeFile(main, program);
    world = await createWorld({ paused: true, more: [{ ...proxyImage({ main }), bootMs: 0 }] });
    const key = world.write("proxy", spec(command));
    const [replica] = (await world.platform.when(key, (seen) => seen.ready === 1)).replicas;
    await world.logLine(key, (text) => text === `ran ${replica?.address}`);
    world.suspend(key, true);
    return { key, address: replica?.address };
  };

  test("runs preStop as the program's own subcommand, in the container's environment", async () => {
    const { key, address } = await start(["node", "/app/main.js", "prestop"]);
    await world.logLine(key, (text) => text === `ran prestop ${address}`);
  });

  test("holds no shell, so a preStop that wants one costs the grace", async () => {
    const { key } = await start(["sh", "-c", "sleep 45"]);
    await world.platform.when(key, (seen) => seen.replicas.length === 0);
    expect(world.platform.snapshot(key).draining).toBe(0);
  });

  test("says so when the proxy is not built", async () => {
    world = await createWorld({ more: [{ ...proxyImage({ main: join(folder, "none.js") }), bootMs: 0 }] });
    const key = world.write("proxy", spec(["node", "/app/main.js", "prestop"]));
    await world.platform.when(key, (seen) => seen.replicas[0]?.reason === "CrashLoopBackOff");
    expect(world.platform.logs(key).map(({ text }) => text)).toContain(
      "the proxy is not built: run `npm run build` first",
    );
  });
});

test("the platform says what this machine makes of it", async () => {
  const world = await createWorld();
  expect(world.platform.describe()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^workloads live at 127\.\d+\.0\.0\/16$/),
      expect.stringContaining("memory limits"),
      expect.stringMatching(/^image: /),
    ]),
  );
  await world.dispose();
});
