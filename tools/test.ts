/** `npm test`: everything that the tests run on, then all of them. Extra arguments go to vitest. */
import { buildAll } from "./build.ts";
import { engineEnv, ensureEngine } from "./engine/index.ts";
import { fromRoot, root } from "./lib/root.ts";
import { passThrough } from "./lib/run.ts";

process.exitCode = await test(process.argv.slice(2));

async function test(args: string[]): Promise<number> {
  try {
    const engine = await ensureEngine();
    console.error(`test: Pulumi ${engine.version} in ${engine.binDir}`);
    await buildAll();
    const vitest = fromRoot("node_modules", "vitest", "vitest.mjs");
    const reporters = ["--reporter=default", `--reporter=${fromRoot("test", "support", "reporter.ts")}`];
    return await passThrough(process.execPath, [vitest, "run", ...reporters, ...args], {
      cwd: root,
      env: engineEnv(engine),
    });
  } catch (error) {
    console.error(`test: ${error instanceof Error ? error.message : error}`);
    return 1;
  }
}
