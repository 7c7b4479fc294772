import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromRoot } from "../../tools/lib/root.ts";

const proxy = (...path: string[]) => fromRoot("proxy-image", ...path);

/** The proxy as one file, which starts anywhere. */
export const bundle = proxy("dist", "main.js");
/** What the image starts. */
export const entry = proxy("dist", "start.js");
export const codeCache = proxy("dist", "main.cache");

/**
 * Vitest calls it once, before any test: bundles the proxy where the bundle is missing or older than its sources.
 * `npm test` has done so already.
 */
export async function setup(): Promise<void> {
  const folders = [proxy("src"), proxy("image"), fromRoot("src", "contract")];
  const sources = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const changed = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newest = Math.max(...[...sources, proxy("build.mjs")].map(changed));
  // The last one that a build writes.
  if (changed(proxy("dist", "licenses.txt")) > newest) return;
  await promisify(execFile)(process.execPath, [proxy("build.mjs")]);
}
