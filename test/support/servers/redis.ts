import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectText, find, type RealServer } from "./server.ts";

/** A dump of version 9 with this many keys: enough of them that reading goes in steps. */
const KEYS = 600;
async function dump(): Promise<Buffer> {
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  const pairs = Array.from({ length: KEYS }, (_, n) =>
    Buffer.concat([Buffer.from([0]), text(`key-${n}`), text("value")]),
  );
  // A checksum of zeros is none.
  return Buffer.concat([
    Buffer.from("REDIS0009"),
    Buffer.from([0xfe, 0]),
    ...pairs,
    Buffer.from([0xff]),
    Buffer.alloc(8),
  ]);
}

export const redis: RealServer = {
  name: "redis",
  server: "Redis",
  client: "redis-cli",
  packages: ["redis-server", "redis-tools"],
  programs: ["redis-server", "redis-cli"],
  ports: [{ target: 6379, readiness: "redis", wakeOn: "fitting" }],
  // With `LOADING` it begins with keys, each of which takes it so many microseconds to read.
  spec: async ({ address, scratch, env }) => {
    const loading = env.LOADING === undefined ? [] : ["--key-load-delay", env.LOADING];
    if (env.LOADING !== undefined) await writeFile(join(scratch, "dump.rdb"), await dump());
    return {
      command: [
        find("redis-server") ?? "redis-server",
        ...["--bind", address, "--port", "6379", "--protected-mode", "no", "--save", "", "--dir", scratch],
        ...loading,
        ...(loading.length > 0 ? ["--loading-process-events-interval-bytes", "1024"] : []),
      ],
      cwd: scratch,
    };
  },
  connections: 2,
  work: async ({ host, ports: [port] }, run) => {
    const to = ["-h", host, "-p", String(port)];
    expectText(await run("redis-cli", [...to, "set", "who", "redis-cli"]), "OK");
    expectText(await run("redis-cli", [...to, "get", "who"]), "redis-cli");
  },
};
