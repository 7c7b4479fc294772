import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { connectPeer } from "../test/support/client.ts";
import { json, StubApi, workloadDocument } from "../test/support/stub-api.ts";
import { deadPort } from "../test/support/target.ts";
import { cpuSeconds, listened } from "./machine.ts";
import { NODE_FLAGS, type Place, Running, type Subject } from "./subjects.ts";

/** What a connection to the target meets while it is suspended, and whether the proxy has seen it boot before. */
export const DOWN = ["refusing", "closing", "silent", "silent, boot known"] as const;
export type Down = (typeof DOWN)[number];

/** Long enough for a look that is silent to be over, as with real boots. */
const BOOT_MS = 2_600;
/** Boots of a target that is not known vary by so much more: never in step with a poll. */
const BOOT_SPREAD_MS = 1_900;
/** Those of one that is known vary by a tenth. */
const KNOWN_SPREAD_MS = 300;
/** Wakes after which a boot counts as known. */
const LEARNT_AFTER = 4;

/** Milliseconds from the target's first possible answer to the first byte at the client. */
export async function wakes(subject: Subject, place: Place, down: Down, times: number): Promise<number[]> {
  if (down === "silent, boot known") {
    const all = await inOneLife(subject, place, "silent", LEARNT_AFTER + times, KNOWN_SPREAD_MS);
    return all.slice(LEARNT_AFTER);
  }
  const overheads: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const spread = (turn * 613) % BOOT_SPREAD_MS;
    overheads.push(...(await inOneLife(subject, place, down, 1, 1, BOOT_MS + spread)));
  }
  return overheads;
}

/** As many wakes of one proxy, with a suspend of its own before each. */
async function inOneLife(
  subject: Subject,
  place: Place,
  down: Mesh,
  times: number,
  spreadMs: number,
  bootMs = BOOT_MS,
): Promise<number[]> {
  const target = await SuspendableTarget.start(down);
  const eager: Subject = {
    ...subject,
    command: (...given) => {
      const command = subject.command(...given);
      return { ...command, env: { ...command.env, IDLE_HOLD: "1s" } };
    },
  };
  const running = await Running.start(eager, { ...place, target: target.port, api: target.api }, {});
  const overheads: number[] = [];
  try {
    for (let turn = 0; turn < times; turn++) {
      await target.suspended();
      // Its last suspend is over, and the client comes at any time after it.
      await setTimeout(100 + ((turn * 613) % 500));
      target.bootMs = bootMs + ((turn * 137) % spreadMs);
      const client = await connectPeer(running.listen);
      const first = await client.text(1);
      if (first === "B") overheads.push(performance.now() - target.upAt);
      client.socket.destroy();
    }
  } finally {
    await running.stop();
    await target.stop();
  }
  return overheads;
}

type Mesh = Exclude<Down, "silent, boot known">;

/** A target and its workload's document: awake at first, then as the proxy has it, with a boot in between. */
class SuspendableTarget {
  readonly port: number;
  bootMs = 0;
  /** When the target could first answer. */
  upAt = 0;
  readonly #down: Mesh;
  readonly #api: StubApi;
  #server: StandIn | undefined;
  #suspend = false;
  #version = 1;
  #turns = Promise.resolve();
  #onSuspended = () => {};

  private constructor(port: number, down: Mesh, api: StubApi) {
    this.port = port;
    this.#down = down;
    this.#api = api;
    api.answer = (call, response, request) => {
      if (call.path.includes("/deployment")) return json(403, {})(call, response, request);
      const suspend: unknown = call.method === "PATCH" && JSON.parse(call.body).spec?.defaultOptions?.suspend;
      if (typeof suspend === "boolean" && call.method === "PATCH") this.#write(suspend);
      json(200, workloadDocument({ suspend: this.#suspend, version: this.#version }))(
        call,
        response,
        request,
      );
    };
  }

  static async start(down: Mesh): Promise<SuspendableTarget> {
    const target = new SuspendableTarget(await deadPort(), down, await StubApi.start());
    target.#server = await standIn(target.port, "speaking");
    return target;
  }

  get api(): string {
    return this.#api.url;
  }

  async suspended(): Promise<void> {
    if (!this.#suspend) await new Promise<void>((resolve) => (this.#onSuspended = resolve));
    await this.#turns;
  }

  async stop(): Promise<void> {
    await this.#turns;
    await this.#server?.close();
    await this.#api.stop();
  }

  #write(suspend: boolean): void {
    this.#version += 1;
    if (suspend === this.#suspend) return;
    this.#suspend = suspend;
    this.#turns = this.#turns.then(() => (suspend ? this.#goDown() : this.#boot()));
    if (suspend) this.#onSuspended();
  }

  async #goDown(): Promise<void> {
    await this.#server?.close();
    this.#server = this.#down === "refusing" ? undefined : await standIn(this.port, this.#down);
  }

  async #boot(): Promise<void> {
    await setTimeout(this.bootMs);
    await this.#server?.close();
    this.#server = await standIn(this.port, "speaking");
    this.upAt = performance.now();
  }
}

interface StandIn {
  close: () => Promise<void>;
}

async function standIn(port: number, kind: Exclude<Mesh, "refusing"> | "speaking"): Promise<StandIn> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    if (kind === "speaking") socket.write("B");
    else if (kind === "closing") socket.end();
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    close: async () => {
      server.close();
      // What the mesh holds stays silent for ever, as it does when the target has come.
      if (kind !== "silent") for (const socket of sockets) socket.destroy();
      else for (const socket of sockets) socket.unref();
      if (kind !== "silent") await once(server, "close");
    },
  };
}

/** The least that a Node process with `net` and `http` costs. */
export const emptyNode: Subject = {
  name: "empty Node, net and http",
  holds: false,
  command: (listen, _place, folder) => ({
    command: [process.execPath, ...NODE_FLAGS, join(folder, "empty.js")],
    files: {
      "empty.js": `
require("node:net").createServer().listen(${listen}, "127.0.0.1");
require("node:http").createServer().listen(${listen + 1}, "127.0.0.1");
`,
    },
  }),
};

/** CPU milliseconds of a start, until half a second after it listens on both its ports. Nobody connects. */
export async function startCpu(subject: Subject, place: Place): Promise<number> {
  const running = await Running.launch(subject, place);
  try {
    while (!(await listened(running.listen)) || !(await listened(running.listen + 1))) {
      if (!running.alive) throw new Error(`${subject.name} ended at its start`);
      await setTimeout(5);
    }
    await setTimeout(500);
    return (await cpuSeconds(await running.pids())) * 1e3;
  } finally {
    await running.stop();
  }
}
