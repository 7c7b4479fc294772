/** What the image is made of, and what the proxy in it needs from the moment it listens. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { type ImageLayout, unpackLayout } from "./layout.ts";
import { environmentOf, sandboxed } from "./sandbox.ts";

/** Decimal, as registries count. */
export const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

export async function measure(image: ImageLayout): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), "cpln-measure-"));
  try {
    const root = join(dir, "root");
    await unpackLayout(image, root);
    return [...(await partsOf(root, image)), ...(await memoryOf(root, image))];
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function partsOf(root: string, image: ImageLayout): Promise<string[]> {
  const files = ["usr/local/bin/node", ...(await readdir(join(root, "app"))).map((name) => `app/${name}`)];
  const lines = [];
  for (const file of files) {
    const content = await readFile(join(root, file));
    lines.push(row(`/${file}`, `${megabytes(gzipSync(content).length)} of ${megabytes(content.length)}`));
  }
  const [base] = image.layers;
  if (base !== undefined) {
    lines.push(row("base layer", `${megabytes(base.bytes)} of ${megabytes(base.unpackedBytes)}`));
  }
  return lines;
}

export const row = (name: string, value: string) => `${name.padEnd(24)}${value}`;

async function memoryOf(root: string, image: ImageLayout): Promise<string[]> {
  const env = await environmentAlone(image);
  const start = (...command: string[]) => {
    const [program = "", ...args] = [...sandboxed(root, image.config), ...command];
    return spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  };
  const proxy = start(...image.config.config.Entrypoint);
  try {
    const took = await started(proxy);
    const lines = [row("start to listening", `${took} ms`), row("proxy", await memory(proxy))];
    // It waits while the load balancer withdraws, as at each drain.
    const hook = start("node", "/app/main.js", "prestop");
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    lines.push(row("preStop beside it", await memory(hook)));
    hook.kill("SIGKILL");
    await once(hook, "close");
    return lines;
  } finally {
    proxy.kill("SIGKILL");
    if (proxy.exitCode === null && proxy.signalCode === null) await once(proxy, "close");
  }
}

/** Settings with which the image starts although there is neither a target nor a platform. */
export async function environmentAlone(image: ImageLayout): Promise<Record<string, string>> {
  const [listen, health] = [await freePort(), await freePort()];
  return {
    ...environmentOf(image.config),
    ...{ TARGET_WORKLOAD: "nobody", PORT_MAPPINGS: String(listen), HEALTH_PORT: String(health) },
    ...{ LISTEN_HOST: "127.0.0.1", CPLN_ENDPOINT: "http://127.0.0.1:1", CPLN_TOKEN: "none" },
    ...{ CPLN_ORG: "none", CPLN_GVC: "none", CPLN_LOCATION: "/org/none/location/none" },
  };
}

/** A look at a process that has nothing more to do, for people to read: nothing is decided by it. */
const settleMs = 1_000;

async function started(proxy: ChildProcess): Promise<number> {
  const at = performance.now();
  if (proxy.stdout === null) throw new Error("no output to read");
  for await (const line of createInterface({ input: proxy.stdout })) {
    if (!line.includes('"event":"started"')) continue;
    const took = Math.round(performance.now() - at);
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    return took;
  }
  throw new Error("the proxy has ended before it listened");
}

async function memory({ pid }: ChildProcess): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
  return `${field("RssAnon").toFixed(1)} MiB of its own, ${field("RssFile").toFixed(1)} MiB of files`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
