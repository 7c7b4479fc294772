/**
 * What others have written in the bundle: from the inputs that esbuild says it read, so that nothing is listed that
 * is not in it and nothing is in it that is not listed.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** @typedef {{ name: string, version: string, license: string, text: string }} Bundled */

/**
 * The packages behind the metafile's inputs, by name. An input outside the checkout's own folders that belongs to no
 * package, or a package without a licence, ends the build: it may not be passed on.
 * @param {{ inputs: Record<string, unknown> }} metafile
 * @param {string} workingDir the folder that the inputs' paths start from
 * @returns {Bundled[]}
 */
export function bundledPackages(metafile, workingDir) {
  const checkout = join(workingDir, "..");
  const folders = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const found = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input);
    if (found) folders.add(join(workingDir, found[0]));
    else if (relative(checkout, join(workingDir, input)).startsWith("..")) {
      throw new Error(`${input} is nobody's: neither of this checkout nor of a package`);
    }
  }
  return [...folders]
    .map(describe)
    .sort((one, other) => (`${one.name}@${one.version}` < `${other.name}@${other.version}` ? -1 : 1));
}

/** @returns {Bundled} */
function describe(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)(\.|$)/i.test(entry));
  if (typeof license !== "string" || file === undefined) throw new Error(`${name} comes without a licence`);
  return { name, version, license, text: readFileSync(join(folder, file), "utf8").trim() };
}

/** @typedef {{ name: string, version: string, license: string, checksum?: string, text?: string }} Linked */

/**
 * What others have written in the native plane: the crates that `tools/image/crates.ts` has found, and Rust's own
 * library, whose version the compiler leaves in what it makes. Empty where no plane was built.
 * @returns {Linked[]}
 */
export function planeCrates(imageDir) {
  const plane = join(imageDir, "dist", "splice.node");
  if (!existsSync(plane)) return [];
  const [, version] = /rustc version (\d+\.\d+\.\d+)/.exec(readFileSync(plane, "latin1")) ?? [];
  if (version === undefined) throw new Error("the native plane does not say which Rust has compiled it");
  const crates = JSON.parse(readFileSync(join(imageDir, "image", "crates.json"), "utf8"));
  return [...crates, { name: rustLibrary, version, license: "MIT OR Apache-2.0" }];
}

/** No crate, as it comes with the compiler. */
const rustLibrary = "rust-std";

/**
 * CycloneDX 1.6. Without a time or a serial number: the same sources give the same file.
 * @param {{ name: string, version: string, license: string }} program
 * @param {Bundled[]} packages
 */
export function softwareBill(program, packages, { nodeVersion, crates }) {
  const library = (purl, { name, version, license, sha256 }) => ({
    type: "library",
    "bom-ref": purl,
    name,
    version,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(sha256 === undefined ? {} : { hashes: [{ alg: "SHA-256", content: sha256 }] }),
    purl,
  });
  const root = `pkg:npm/${program.name}@${program.version}`;
  const node = `pkg:generic/node@${nodeVersion}`;
  const components = [
    { ...library(node, { name: "node", version: nodeVersion, license: "MIT" }), type: "framework" },
    ...packages.map((each) => library(`pkg:npm/${encodeURIComponent(each.name)}@${each.version}`, each)),
    ...crates.map(({ checksum, ...each }) =>
      library(`pkg:${each.name === rustLibrary ? "generic" : "cargo"}/${each.name}@${each.version}`, {
        ...each,
        sha256: checksum,
      }),
    ),
  ];
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": root,
        name: program.name,
        version: program.version,
        licenses: [{ expression: program.license }],
        purl: root,
      },
    },
    components,
    dependencies: [{ ref: root, dependsOn: components.map((each) => each["bom-ref"]) }],
  };
}

/** @param {Bundled[]} packages */
export function licenceList(program, ownText, packages, crates) {
  const part = ({ name, version, license, text = "The Apache licence above." }) =>
    `${name} ${version}\n${license}\n\n${text}\n`;
  const rule = `\n${"=".repeat(78)}\n\n`;
  return [{ ...program, text: ownText.trim() }, ...packages, ...crates].map(part).join(rule);
}
