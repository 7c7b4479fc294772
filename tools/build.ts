/**
 * Builds everything that is compiled: the published package, the SDK subset it is developed against, and the
 * proxy's bundle. `--clean` removes the published package's output first, so that no stale file is packed.
 */
import { rm } from "node:fs/promises";
import { fromRoot } from "./lib/root.ts";
import { passThrough } from "./lib/run.ts";

const tsc = fromRoot("node_modules", "typescript", "bin", "tsc");

/** Throws where a step fails; its own messages are on the output by then. */
export async function buildAll(): Promise<void> {
  // The SDK comes first: the package resolves its types there.
  await step("the SDK subset", [tsc, "-p", fromRoot("sdks", "cpln")]);
  await step("the package", [tsc, "-p", fromRoot("tsconfig.build.json")]);
  await step("the proxy", [fromRoot("proxy-image", "build.mjs")]);
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
