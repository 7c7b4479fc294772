/** `npm run docs`: writes the generated sections of the docs again. The test that holds them to the code does it. */
import { fromRoot, root } from "./lib/root.ts";
import { passThrough } from "./lib/run.ts";

const vitest = fromRoot("node_modules", "vitest", "vitest.mjs");
process.exitCode = await passThrough(
  process.execPath,
  [vitest, "run", "--project", "contract", "docs.test"],
  {
    cwd: root,
    env: { ...process.env, UPDATE_DOCS: "1" },
  },
);
