/**
 * Bundles the proxy into the one file that its image holds, dist/main.js, and writes what went into it to
 * dist/meta.json.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));

const result = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  outfile: "dist/main.js",
  bundle: true,
  platform: "node",
  target: "node24",
  format: "cjs",
  // Identifiers stay as written, so that stack traces and heap profiles can be read. Not `keepNames`: it would
  // add a call to every closure that the hot path makes.
  minifySyntax: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
}).catch(() => {
  // esbuild has said what is wrong.
  process.exit(1);
});

writeFileSync(join(here, "dist", "meta.json"), JSON.stringify(result.metafile));
