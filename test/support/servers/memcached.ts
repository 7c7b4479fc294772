import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectText, find, type RealServer } from "./server.ts";

export const memcached: RealServer = {
  name: "memcached",
  server: "memcached",
  client: "memccp, memccat",
  packages: ["memcached", "libmemcached-tools"],
  programs: ["memcached", "memccp", "memccat"],
  ports: [{ target: 11_211, readiness: "memcached", wakeOn: "fitting" }],
  spec: ({ address, scratch }) => ({
    command: [
      find("memcached") ?? "memcached",
      "-u",
      "root",
      "-l",
      address,
      "-p",
      "11211",
      "-U",
      "0",
      "-m",
      "8",
    ],
    cwd: scratch,
  }),
  connections: 2,
  work: async ({ host, ports: [port], scratch }, run) => {
    const servers = `--servers=${host}:${port}`;
    const file = join(scratch, "who");
    await writeFile(file, "memccp");
    await run("memccp", [servers, file]);
    expectText(await run("memccat", [servers, "who"]), "memccp");
  },
};
