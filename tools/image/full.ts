/**
 * `node tools/image/full.ts LAYOUT [SESSIONS]`: starts the image in a memory cgroup of 128 MiB, kernel memory
 * included, fills it with idle sessions, moves 256 MiB through one of them, and runs the preStop hook beside them.
 * Needs root and a writable memory cgroup (v1 or v2). Fails where anything of that is killed, cut or refused, which
 * is what exceeding the limit comes to. Nothing is left of it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type ImageLayout, readLayout, unpackLayout } from "./layout.ts";
import { environmentAlone, row } from "./measure.ts";
import { sandboxed } from "./sandbox.ts";

const limitBytes = 128 * 1024 * 1024;
const bulkBytes = 256 * 1024 * 1024;
const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

const v1 = existsSync("/sys/fs/cgroup/memory/memory.limit_in_bytes");
const files = v1
  ? { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes" }
  : { root: "/sys/fs/cgroup", limit: "memory.max", peak: "memory.peak" };

const [layout = "", sessions = "8000"] = process.argv.slice(2);
await full(await readLayout(layout), Number(sessions));

async function full(image: ImageLayout, count: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "cpln-full-"));
  const group = join(files.root, `cpln-full-${process.pid}`);
  const target = createServer(serve);
  const children: ChildProcess[] = [];
  const clients: Socket[] = [];
  try {
    const root = join(dir, "root");
    await unpackLayout(image, root);
    await mkdir(group);
    await writeFile(join(group, files.limit), String(limitBytes));
    target.listen({ port: 0, host: "127.0.0.1", backlog: 4096 });
    await once(target, "listening");
    const { port } = target.address() as AddressInfo;
    const alone = await environmentAlone(image);
    const listen = Number(alone.PORT_MAPPINGS);
    const env = {
      ...alone,
      ...{ TARGET_HOST: "127.0.0.1", PORT_MAPPINGS: `${listen}:${port}`, IDLE_HOLD: "1h" },
      ...{ MAX_CONNECTIONS: "20000", MAX_CONNECTIONS_TOTAL: "20000" },
    };
    // The shell puts itself into the cgroup and becomes what it starts.
    const inside = ["-c", `echo $$ >'${join(group, "cgroup.procs")}' && exec "$@"`, "sh"];
    const start = (...command: string[]) => {
      const child = spawn("/bin/sh", [...inside, ...sandboxed(root, image.config), ...command], {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      children.push(child);
      return child;
    };
    const proxy = start(...image.config.config.Entrypoint);
    const lines = logged(proxy);
    const { plane } = await lines.find("started");
    console.log(row("plane", String(plane)));
    while (clients.length < count) {
      const batch = Array.from({ length: Math.min(50, count - clients.length) }, () => client(listen));
      clients.push(...(await Promise.all(batch)));
    }
    console.log(row("idle sessions", String(clients.length)));
    console.log(row("proxy", await memory(proxy)));
    const [bulk] = clients;
    if (bulk === undefined) throw new Error("no session");
    const began = performance.now();
    await download(bulk);
    console.log(row("256 MiB through one", `${((performance.now() - began) / 1000).toFixed(2)} s`));
    const hook = start("node", "/app/main.js", "prestop");
    await lines.find("draining");
    console.log(row("preStop beside them", await memory(hook)));
    console.log(
      row("peak of the cgroup", mebibytes(Number(await readFile(join(group, files.peak), "utf8")))),
    );
    const cut = clients.filter(({ destroyed }) => destroyed).length;
    if (cut > 0) throw new Error(`${cut} sessions have ended by themselves`);
    for (const socket of clients) socket.end();
    const [code, signal] = await once(hook, "close");
    if (code !== 0) throw new Error(`preStop ended with ${code ?? signal}`);
    console.log(row("preStop's exit code", String(code)));
  } finally {
    for (const socket of clients) socket.destroy();
    target.close();
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await rmdir(group);
    await rm(dir, { recursive: true, force: true });
  }
}

/** A banner; and to whoever says a byte, 256 MiB. */
function serve(socket: Socket): void {
  socket.on("error", () => {});
  socket.write("B");
  socket.once("data", () => {
    const chunk = Buffer.alloc(1024 * 1024);
    let left = bulkBytes / chunk.length;
    const more = () => {
      while (left > 0) {
        left -= 1;
        if (!socket.write(chunk)) return;
      }
    };
    socket.on("drain", more);
    more();
  });
}

function client(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.once("data", () => resolve(socket));
    socket.once("close", () => reject(new Error("the proxy has not served a client")));
  });
}

async function download(socket: Socket): Promise<void> {
  let left = bulkBytes;
  const done = new Promise<void>((resolve, reject) => {
    socket.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left === 0) resolve();
    });
    socket.once("close", () => reject(new Error(`closed with ${left} bytes to come`)));
  });
  socket.write("x");
  await done;
}

function logged(child: ChildProcess) {
  if (child.stdout === null) throw new Error("no output to read");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async find(event: string): Promise<Record<string, unknown>> {
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`ended before "${event}"`);
        if (value.includes(`"event":"${event}"`)) return JSON.parse(value);
      }
    },
  };
}

async function memory({ pid }: ChildProcess): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
  return `${mebibytes(field("RssAnon"))} of its own, ${mebibytes(field("RssFile"))} of files`;
}
