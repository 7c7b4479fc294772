/**
 * Bundles the proxy into the one file that its image holds, dist/main.js, and says what went into it: dist/meta.json
 * for tools, dist/sbom.cdx.json and dist/licenses.txt for those who run the image.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundledPackages, licenceList, planeCrates, softwareBill } from "./image/inventory.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const dist = join(here, "dist");

/** With what the bundle says of itself, which is known only once it was bundled. */
const bundle = (packages) =>
  build({
    absWorkingDir: here,
    entryPoints: ["src/main.ts"],
    outfile: "dist/main.js",
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

const packages = bundledPackages((await bundle([])).metafile, here);
const { metafile, outputFiles } = await bundle(packages);

const program = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const ownLicence = readFileSync(join(here, "..", "LICENSE"), "utf8");
const crates = planeCrates(here);
const bill = softwareBill(program, packages, { nodeVersion: process.versions.node, crates });
mkdirSync(dist, { recursive: true });
writeFileSync(join(dist, "main.js"), outputFiles[0].contents);
writeFileSync(join(dist, "meta.json"), JSON.stringify(metafile));
writeFileSync(join(dist, "sbom.cdx.json"), `${JSON.stringify(bill, undefined, 2)}\n`);
writeFileSync(join(dist, "licenses.txt"), licenceList(program, ownLicence, packages, crates));
