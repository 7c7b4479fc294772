import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { pinnedNode } from "../../../simulator/src/images/index.ts";

const preload = fileURLToPath(new URL("../../../simulator/src/network/preload.cjs", import.meta.url));

test("a process whose simulator has gone goes, too", async () => {
  const env = {
    PATH: process.env.PATH ?? "",
    SIMULATOR_ADDRESS: "127.0.0.2",
    SIMULATOR_NAME_SERVER: "127.0.0.2:9",
    SIMULATOR_LEASH: "3",
    NODE_OPTIONS: `--require=${JSON.stringify(preload)}`,
  };
  const program = "setInterval(() => {}, 1e6); console.log(process.env.SIMULATOR_LEASH ?? 'not inherited')";
  const child = spawn(pinnedNode(), ["-e", program], { env, stdio: ["ignore", "pipe", "inherit", "pipe"] });
  const exited = once(child, "exit");
  const [said] = await once(child.stdout as Readable, "data");
  expect(String(said).trim()).toBe("not inherited");
  child.kill("SIGTERM");
  child.stdio[3]?.destroy();
  expect(await exited).toEqual([137, null]);
});
