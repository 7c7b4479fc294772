import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { connectPeer } from "../test/support/client.ts";
import { fromRoot } from "../tools/lib/root.ts";
import { family, type Limit } from "./machine.ts";

export interface Place {
  /** Where the target of the load answers. */
  target: number;
  api: string;
}

export interface Launch {
  /** The only core it may use. */
  core?: number;
  limits?: readonly Limit[];
  /** As an unprivileged user, where this one is privileged. */
  unprivileged?: boolean;
}

interface Command {
  command: string[];
  env?: Record<string, string>;
  files?: Record<string, string>;
}

export interface Subject {
  name: string;
  /** A whole proxy, that holds and wakes. */
  holds: boolean;
  command: (listen: number, place: Place, folder: string) => Command;
}

/** Both proxies understand it. */
const environment = (listen: number, health: number, { target, api }: Place) => ({
  TARGET_WORKLOAD: "sftp",
  TARGET_GVC: "demo",
  TARGET_HOST: "127.0.0.1",
  PORT_MAPPINGS: `${listen}:${target}`,
  HEALTH_PORT: `${health}`,
  IDLE_HOLD: "1h",
  MAX_HOLD: "10m",
  WAKE_TIMEOUT: "10m",
  CPLN_ENDPOINT: api,
  CPLN_ORG: "org",
  CPLN_GVC: "demo",
  CPLN_WORKLOAD: "proxy",
  CPLN_LOCATION: "here",
  CPLN_TOKEN: "token",
});

const UNCAPPED = {
  MAX_HELD: "60000",
  MAX_HELD_TOTAL: "60000",
  MAX_CONNECTIONS: "60000",
  MAX_CONNECTIONS_TOTAL: "60000",
};

/** As the image's entry has them. */
export const NODE_FLAGS = ["--max-semi-space-size=1", "--max-old-space-size=48", "--v8-pool-size=0"];

const own = (plane: "native" | "js"): Subject => ({
  name: `proxy, ${plane} plane`,
  holds: true,
  command: (listen, place) => ({
    command: [process.execPath, ...NODE_FLAGS, fromRoot("proxy-image", "dist", "start.js")],
    env: {
      ...environment(listen, listen + 1, place),
      ...UNCAPPED,
      MALLOC_ARENA_MAX: "1",
      DATA_PLANE: plane,
    },
  }),
});

const haproxy: Subject = {
  name: "HAProxy",
  holds: false,
  command: (listen, { target }, folder) => ({
    command: ["haproxy", "-db", "-f", join(folder, "haproxy.cfg")],
    files: {
      "haproxy.cfg": [
        "global",
        "  maxconn 6000",
        "  nbthread 1",
        "defaults",
        "  mode tcp",
        "  option splice-auto",
        "  timeout connect 5s",
        "  timeout client 1h",
        "  timeout server 1h",
        "listen all",
        `  bind 127.0.0.1:${listen}`,
        `  server target 127.0.0.1:${target}`,
        "",
      ].join("\n"),
    },
  }),
};

const nginx: Subject = {
  name: "nginx",
  holds: false,
  command: (listen, { target }, folder) => ({
    command: ["nginx", "-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")],
    files: {
      "nginx.conf": `
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log crit;
events { worker_connections 19000; }
stream {
  server { listen 127.0.0.1:${listen} backlog=4096; proxy_pass 127.0.0.1:${target}; proxy_buffer_size 64k; proxy_half_close on; proxy_timeout 1h; }
}
`,
    },
  }),
};

const reference = (binary: string): Subject => ({
  name: "reference",
  holds: true,
  command: (listen, place) => ({ command: [binary], env: environment(listen, listen + 1, place) }),
});

export function subjects(referenceBinary: string | undefined): Subject[] {
  const first = referenceBinary === undefined ? [] : [reference(referenceBinary)];
  return [...first, own("native"), own("js"), haproxy, nginx];
}

/** A subject as a process. */
export class Running {
  readonly listen: number;
  readonly child: ChildProcess;
  readonly #folder: string;

  private constructor(listen: number, child: ChildProcess, folder: string) {
    this.listen = listen;
    this.child = child;
    this.#folder = folder;
  }

  static async start(subject: Subject, place: Place, launch: Launch = {}): Promise<Running> {
    const running = await Running.launch(subject, place, launch);
    await running.#listening(subject.name);
    return running;
  }

  /** As `start`, without asking whether it listens. */
  static async launch(subject: Subject, place: Place, launch: Launch = {}): Promise<Running> {
    const listen = await freePorts();
    const folder = await mkdtemp(join(tmpdir(), "bench-"));
    const { command, env = {}, files = {} } = subject.command(listen, place, folder);
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const child = launched(command, env, launch);
    return new Running(listen, child, folder);
  }

  get address(): string {
    return `127.0.0.1:${this.listen}`;
  }

  pids(): Promise<number[]> {
    return family(this.child.pid ?? 0);
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async stop(): Promise<void> {
    if (this.alive) {
      const ended = once(this.child, "exit");
      // nginx leaves its worker behind when it is killed.
      this.child.kill("SIGTERM");
      const killer = globalThis.setTimeout(() => this.child.kill("SIGKILL"), 1_500);
      await ended;
      clearTimeout(killer);
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #listening(name: string): Promise<void> {
    for (;;) {
      if (!this.alive) throw new Error(`${name} ended at its start`);
      const peer = await connectPeer(this.listen);
      const open = await Promise.race([
        peer.text(1).then((text) => text !== ""),
        peer.ended.then(() => false),
        setTimeout(300, true),
      ]);
      peer.socket.destroy();
      if (open) return;
      await setTimeout(20);
    }
  }
}

/** Put under its limits before it becomes the command, so that all of it counts. */
export function launched(command: string[], env: Record<string, string>, launch: Launch): ChildProcess {
  const { core, limits = [], unprivileged = false } = launch;
  const user = unprivileged && process.getuid?.() === 0;
  const prefix = [
    ...(core === undefined ? [] : ["taskset", "-c", `${core}`]),
    ...(user ? ["setpriv", "--reuid=65532", "--regid=65532", "--clear-groups"] : []),
  ];
  const entries = limits.map(({ entry }) => `echo $$ > ${entry}; `).join("");
  const child = spawn(
    "/bin/sh",
    ["-c", `ulimit -n $(ulimit -Hn); ${entries}exec "$@"`, "sh", ...prefix, ...command],
    {
      env: { PATH: `${process.env.PATH}:/usr/sbin`, ...env },
      stdio: ["ignore", "ignore", process.env.BENCH_DEBUG ? "inherit" : "ignore"],
    },
  );
  child.on("error", () => {});
  return child;
}

/** The first of two free ports in a row. */
async function freePorts(): Promise<number> {
  for (;;) {
    const port = await free(0);
    if (port !== undefined && port < 65_535 && (await free(port + 1)) !== undefined) return port;
  }
}

async function free(port: number): Promise<number | undefined> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" ? address?.port : undefined;
  } catch {
    return undefined;
  } finally {
    server.close();
  }
}
