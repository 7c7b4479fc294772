/** `npm run check`: format, lint and types, side by side, every failure shown. Extra arguments go to biome. */
import { fromRoot, root } from "./lib/root.ts";
import { capture } from "./lib/run.ts";

const tsc = fromRoot("node_modules", "typescript", "bin", "tsc");
const biome = fromRoot("node_modules", "@biomejs", "biome", "bin", "biome");

const checks = {
  biome: [biome, "check", "--colors=off", ...process.argv.slice(2), root],
  "tsc tsconfig.json": [tsc, "-p", fromRoot("tsconfig.json"), "--noEmit"],
  "tsc tsconfig.tools.json": [tsc, "-p", fromRoot("tsconfig.tools.json"), "--noEmit"],
};

const results = await Promise.all(
  Object.entries(checks).map(async ([name, args]) => {
    const { code, stdout, stderr } = await capture(process.execPath, args, { cwd: root });
    if (code !== 0) process.stdout.write(`${stdout}${stderr}`);
    return { name, ok: code === 0 };
  }),
);
for (const { name, ok } of results) console.log(`${ok ? "ok    " : "FAILED"} ${name}`);
if (results.some(({ ok }) => !ok)) process.exitCode = 1;
