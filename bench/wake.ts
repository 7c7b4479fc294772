import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { connectPeer } from "../test/support/client.ts";
import { deadPort } from "../test/support/target.ts";
import { cpuSeconds } from "./machine.ts";
import { launched, NODE_FLAGS, type Place, Running, type Subject } from "./subjects.ts";

/** A server that is down until it is asked for, and then says its first byte at once. */
export type Down = "refusing" | "closing" | "silent";

/** Milliseconds from the target's first possible answer to the first byte at the client. */
export async function wakes(subject: Subject, place: Place, down: Down, times: number): Promise<number[]> {
  const port = await deadPort();
  const running = await Running.start(subject, { ...place, target: port }, {});
  const overheads: number[] = [];
  try {
    for (let turn = 0; turn < times; turn++) {
      const mesh = down === "refusing" ? undefined : await standIn(port, down);
      const client = await connectPeer(running.listen);
      // Between one second and three, never in step with a poll.
      await setTimeout(1_000 + ((turn * 613) % 2_000));
      if (mesh) await mesh.close();
      const target = await standIn(port, "speaking");
      const from = performance.now();
      const first = await client.text(1);
      if (first === "B") overheads.push(performance.now() - from);
      client.socket.destroy();
      await target.close();
      await setTimeout(100);
    }
  } finally {
    await running.stop();
  }
  return overheads;
}

async function standIn(port: number, kind: Exclude<Down, "refusing"> | "speaking") {
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

const EMPTY = `
  require("node:http").createServer().listen(0, "127.0.0.1");
  require("node:net").createServer().listen(0, "127.0.0.1", () => setTimeout(() => {}, 60_000));
`;

/** CPU milliseconds of a start, until half a second after it. */
export async function startCpu(subject: Subject, place: Place): Promise<number> {
  const running = await Running.start(subject, place);
  try {
    await setTimeout(500);
    return (await cpuSeconds(await running.pids())) * 1e3;
  } finally {
    await running.stop();
  }
}

/** The least that a Node process with `net` and `http` costs. */
export async function emptyNodeCpu(): Promise<number> {
  const child = launched([process.execPath, ...NODE_FLAGS, "-e", EMPTY], {}, {});
  await setTimeout(1_000);
  const used = (await cpuSeconds([child.pid ?? 0])) * 1e3;
  child.kill("SIGKILL");
  await once(child, "exit");
  return used;
}
