/**
 * Bundles the proxy into one file, dist/main.js, beside it what lets it start sooner, dist/start.js and dist/main.cache,
 * and says what went into it: dist/meta.json for tools, dist/sbom.cdx.json and dist/licenses.txt for those who run the
 * image.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundledPackages, licenceList, planeCrates, softwareBill } from "./image/inventory.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const dist = join(here, "dist");

/** With what the bundle says of itself, which is known only once it was bundled. */
const bundle = (name, packages) =>
  build({
    absWorkingDir: here,
    entryPoints: [`src/${name}.ts`],
    outfile: `dist/${name}.js`,
    write: false,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "cjs",
    // What is loaded late is required then: an "import" of Node's own modules would start its ESM loader, at twice the
    // CPU of all the rest of the start.
    supported: { "dynamic-import": false },
    // Identifiers stay as written, so that stack traces and heap profiles can be read. Not `keepNames`: it would
    // add a call to every closure that the hot path makes.
    minifySyntax: true,
    legalComments: "none",
    define: {
      BUNDLED_PACKAGES: JSON.stringify(
        packages.map(({ name, version, license }) => ({ name, version, license })),
      ),
    },
    metafile: true,
    logLevel: "warning",
  }).catch(() => {
    // esbuild has said what is wrong.
    process.exit(1);
  });

const packages = bundledPackages((await bundle("main", [])).metafile, here);
const { metafile, outputFiles } = await bundle("main", packages);
const start = await bundle("start", packages);

const program = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const ownLicence = readFileSync(join(here, "..", "LICENSE"), "utf8");
const crates = planeCrates(here);
const bill = softwareBill(program, packages, { nodeVersion: process.versions.node, crates });
const main = join(dist, "main.js");
const cache = join(dist, "main.cache");
mkdirSync(dist, { recursive: true });
// V8 would take the cache of another bundle that is as long.
rmSync(cache, { force: true });
writeFileSync(main, ascii(outputFiles[0].text));
writeFileSync(join(dist, "start.js"), start.outputFiles[0].contents);
writeCodeCache(main, cache);
writeFileSync(join(dist, "meta.json"), JSON.stringify(metafile));
writeFileSync(join(dist, "sbom.cdx.json"), `${JSON.stringify(bill, undefined, 2)}\n`);
writeFileSync(join(dist, "licenses.txt"), licenceList(program, ownLicence, packages, crates));

/** Comments that esbuild has kept are all that is not ASCII yet. ASCII is half the memory for V8. */
function ascii(text) {
  return text.replace(/[^\0-\x7f]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The build fails where the bundle does not start. Whoever starts it meanwhile sees the whole cache or none. */
function writeCodeCache(bundle, cache) {
  const flags = ["--hash-seed=1", "--no-flush-bytecode", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"];
  const unfinished = `${cache}.${process.pid}`;
  const args = [...flags, join(here, "image", "code-cache.mjs"), bundle, unfinished];
  // A pipe wherever this runs: Node loads other code of its own for a file, and V8 counts in the cache what was loaded.
  const { status, stderr } = spawnSync(process.execPath, args, {
    env: {},
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status !== 0) {
    process.stderr.write(stderr);
    process.exit(1);
  }
  renameSync(unfinished, cache);
}
