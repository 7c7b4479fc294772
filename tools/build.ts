/**
 * Builds everything that is compiled: the published package, the SDK subset it is developed against, the proxy's
 * bundle and its native plane. `--clean` removes the published package's output first, so that no stale file is packed.
 */
import { rm } from "node:fs/promises";
import { fromRoot } from "./lib/root.ts";
import { passThrough } from "./lib/run.ts";
import { buildNative, whyNotNative } from "./native.ts";

const tsc = fromRoot("node_modules", "typescript", "bin", "tsc");

/**
 * Throws where a step fails; its own messages are on the output by then. Without `native` the proxy runs on whatever
 * plane was built before, or in JavaScript.
 */
export async function buildAll({ native = true } = {}): Promise<void> {
  // The SDK comes first: the package resolves its types there.
  await step("the SDK subset", [tsc, "-p", fromRoot("sdks", "cpln")]);
  await step("the package", [tsc, "-p", fromRoot("tsconfig.build.json")]);
  // The proxy's bill of materials lists what is in the plane that lies beside it.
  if (native) await buildPlane();
  await step("the proxy", [fromRoot("proxy-image", "build.mjs")]);
}

/** Whoever can't build the native plane has all the rest: the proxy runs on its other one. */
async function buildPlane(): Promise<void> {
  const whyNot = await whyNotNative();
  if (whyNot !== undefined && process.env.REQUIRE_REAL_PEERS === "1")
    throw new Error(`no native plane: ${whyNot}`);
  if (whyNot === undefined) console.error("build: the native plane");
  else console.error(`build: no native plane, the proxy moves bytes in JavaScript only: ${whyNot}`);
  if (whyNot === undefined) await buildNative();
}

async function step(what: string, args: string[]): Promise<void> {
  console.error(`build: ${what}`);
  const code = await passThrough(process.execPath, args);
  if (code !== 0) throw new Error(`building ${what} failed`);
}

if (import.meta.main) {
  if (process.argv.includes("--clean")) await rm(fromRoot("dist"), { recursive: true, force: true });
  try {
    await buildAll();
  } catch (error) {
    console.error(`build: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
