/**
 * `npm run soak`: tells the core random stories for much longer than `npm test` does. The argument is a number of
 * minutes (`npm run soak -- 30`) or of stories (`npm run soak -- 200000 stories`); `CORE_SEED` repeats a run.
 */
import { fromRoot, root } from "./lib/root.ts";
import { passThrough } from "./lib/run.ts";

const [count = "10", unit = "minutes"] = process.argv.slice(2);
const stories = unit === "stories";
if (!(Number(count) > 0) || !(stories || unit === "minutes")) {
  console.error("usage: npm run soak -- [<number> [minutes|stories]]");
  process.exitCode = 64;
} else {
  const vitest = fromRoot("node_modules", "vitest", "vitest.mjs");
  const tests = fromRoot("test", "unit", "core", "properties.test.ts");
  process.exitCode = await passThrough(process.execPath, [vitest, "run", "--project", "unit", tests], {
    cwd: root,
    env: { ...process.env, [stories ? "CORE_RUNS" : "CORE_MINUTES"]: count },
  });
}
