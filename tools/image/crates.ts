/**
 * `node tools/image/crates.ts`: writes proxy-image/image/crates.json, what the native plane links of others' crates,
 * with their licences. Needs cargo and the crates' sources, as any build of the plane does; the image's build needs
 * neither, and reads the file. With `--check`, fails where the file is out of date.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fromRoot } from "../lib/root.ts";
import { must } from "./must.ts";

export interface Crate {
  name: string;
  version: string;
  /** SHA-256 of what the registry serves, from the lockfile. */
  checksum: string;
  license: string;
  /** Of those whose licence asks for its own notice; the others may be had under the Apache licence, as this is. */
  text?: string;
}

export const cratesFile = fromRoot("proxy-image", "image", "crates.json");
const workspace = fromRoot("proxy-image", "native");

/** The same on both architectures: the crates differ in code that is left out, not in what they are. */
const targets = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

export async function linkedCrates(): Promise<Crate[]> {
  const checksums = await lockedChecksums();
  const described = await sources();
  const linked = new Set<string>();
  for (const target of targets) {
    const tree = await must(
      "cargo",
      [
        ...["tree", "--quiet", "--locked", "--package", "splice-addon", "--edges", "normal,no-proc-macro"],
        ...["--target", target, "--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"],
      ],
      { cwd: workspace },
    );
    for (const line of tree.trim().split("\n")) linked.add(line);
  }
  const crates = [...linked].sort().flatMap(async (line) => {
    const [, name = "", version = "", license = ""] = /^(\S+) v(\S+)(?: \(.*\))?\|(.*)$/.exec(line) ?? [];
    const checksum = checksums.get(`${name} ${version}`);
    // The workspace's own have none.
    if (checksum === undefined) return [];
    if (license === "") throw new Error(`${name} comes without a licence`);
    const crate: Crate = { name, version, checksum, license };
    if (!license.includes("Apache-2.0"))
      crate.text = await licenceText(described.get(`${name} ${version}`), license);
    return [crate];
  });
  return (await Promise.all(crates)).flat();
}

export async function lockedChecksums(): Promise<Map<string, string>> {
  const lock = await readFile(join(workspace, "Cargo.lock"), "utf8");
  const entries = lock.matchAll(/name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"/g);
  return new Map([...entries].map(([, name, version, checksum = ""]) => [`${name} ${version}`, checksum]));
}

/** Part of what `cargo metadata` says of a package. */
interface Described {
  name: string;
  version: string;
  manifest_path: string;
  authors: string[];
}

interface Source {
  folder: string;
  authors: string[];
}

async function sources(): Promise<Map<string, Source>> {
  const args = ["metadata", "--quiet", "--locked", "--format-version", "1"];
  const { packages }: { packages: Described[] } = JSON.parse(await must("cargo", args, { cwd: workspace }));
  return new Map(
    packages.map(({ name, version, manifest_path, authors }) => [
      `${name} ${version}`,
      { folder: dirname(manifest_path), authors },
    ]),
  );
}

async function licenceText(source: Source | undefined, license: string): Promise<string> {
  if (source === undefined) throw new Error("cargo does not say where a crate is");
  const { folder, authors } = source;
  const files = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying)/i.test(name)).sort();
  const file = files.find((name) => /mit/i.test(name)) ?? files[0];
  // Some publish without the file; their manifest's word is what there is.
  if (file === undefined)
    return `By ${authors.join(", ")}, published under ${license} without a text of its own.`;
  return (await readFile(join(folder, file), "utf8")).trim();
}

if (import.meta.main) {
  const text = `${JSON.stringify(await linkedCrates(), undefined, 2)}\n`;
  if (!process.argv.includes("--check")) await writeFile(cratesFile, text);
  else if (text !== (await readFile(cratesFile, "utf8"))) {
    console.error("proxy-image/image/crates.json is out of date: run `node tools/image/crates.ts`");
    process.exitCode = 1;
  }
}
