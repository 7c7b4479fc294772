/** `npm run engine`: make sure that there is a Pulumi engine, and say which. */
import { ensureEngine } from "./index.ts";

try {
  const { binDir, version, source } = await ensureEngine();
  const origin = {
    path: "found on the PATH",
    cache: "from the cache",
    installed: "just installed",
    built: "just built",
  }[source];
  console.log(`Pulumi ${version} in ${binDir} (${origin})`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
