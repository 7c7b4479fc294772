/** What the Dockerfile says agrees with the component, the simulator and the packages; no image is built here. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { proxyEntry, proxyImage } from "../../simulator/src/images/proxy.ts";
import { defaultImage, version } from "../../src/index.ts";
import { imageOf, lifecycle } from "../../src/workload.ts";
import { type Crate, cratesFile, linkedCrates, lockedChecksums } from "../../tools/image/crates.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const dockerfile = read("proxy-image/Dockerfile");
const instruction = (name: string) =>
  dockerfile
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.startsWith(`${name} `))
    .map((line) => line.slice(name.length + 1).trim());

it("starts the one file with the flags and variables that the simulator starts it with", () => {
  const [entry = "[]"] = instruction("ENTRYPOINT");
  expect(JSON.parse(entry)).toEqual(["node", ...proxyEntry.flags, "/app/start.js"]);
  const { PATH, ...variables } = Object.fromEntries(
    instruction("ENV").flatMap((line) => line.split(/\s+/).map((pair) => pair.split("="))),
  );
  expect(variables).toEqual(proxyEntry.env);
  expect(PATH).toBe("/usr/local/bin");
});

it("holds what the component's preStop runs, by the same names", () => {
  const [node, main, subcommand] = lifecycle().preStop?.exec?.commands ?? [];
  const [entry = "[]"] = instruction("ENTRYPOINT");
  const words: string[] = JSON.parse(entry);
  const beside = words.at(-1)?.replace("start.js", "main.js");
  expect([node, main, subcommand]).toEqual([words[0], beside, "prestop"]);
});

it("runs as a numeric user that is neither root nor the mesh's own", () => {
  const [user = ""] = instruction("USER");
  expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(user).not.toMatch(/\b1337\b/);
});

describe("the bases", () => {
  const bases = instruction("ARG").filter((line) => /_IMAGE=/.test(line));
  const base = (name: string) => bases.find((line) => line.startsWith(`${name}=`)) ?? "";

  it("are arguments, by digest, and all that there are", () => {
    expect(bases).toHaveLength(3);
    for (const line of bases) expect(line).toMatch(/@sha256:[0-9a-f]{64}$/);
    const stages = instruction("FROM").map((line) => line.split(" ")[0]?.replace(/^\$\{(.*)\}$/, "$1"));
    expect(stages).toEqual(["RUST_IMAGE", "scratch", "BUILD_IMAGE", "BASE_IMAGE"]);
  });

  it("have Node in the version that everything else runs on, and the Rust of the workflows", () => {
    const { node } = JSON.parse(read("package.json")).devDependencies;
    expect(base("BUILD_IMAGE")).toContain(`/node:${node}-`);
    const [, rust] = /\/rust:([\d.]+)-/.exec(base("RUST_IMAGE")) ?? [];
    for (const name of ["ci", "release"]) {
      const versions = [...read(`.github/workflows/${name}.yml`).matchAll(/\/rust:([\d.]+)-/g)];
      expect(versions.length).toBeGreaterThan(0);
      for (const [, version] of versions) expect(version).toBe(rust);
    }
  });

  // What is linked against one glibc may ask for more than an older one has.
  it("are of one Debian", () => {
    expect(base("RUST_IMAGE")).toMatch(/-bookworm@/);
    expect(base("BUILD_IMAGE")).toMatch(/-bookworm-/);
    expect(base("BASE_IMAGE")).toContain("-debian12:");
  });
});

it("is made from sources alone: nothing that was compiled gets into the build", () => {
  const lines = read("proxy-image/Dockerfile.dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines[0]).toBe("*");
  const admitted = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  expect(admitted).not.toContain("proxy-image");
  for (const path of admitted) expect(path).not.toMatch(/dist|target|\.node/);
  // The one folder of those that a compiler writes into.
  expect(lines).toContain("proxy-image/native/target");
});

it("has no version of its own: the label and the tag come from the package's", () => {
  expect(instruction("LABEL").join()).toMatch(/image\.version="\$\{VERSION\}"/);
  expect(instruction("ARG")).toContain("VERSION");
  expect(defaultImage.split(":").at(-1)).toBe(version);
  const page = read("docs/image.md");
  expect(page).toContain(`image: "${defaultImage}@sha256:`);
  expect(page).toContain(`VERSION=${version} `);
  // What a release puts in, it puts in from the tag and the repository that it runs in.
  const release = read(".github/workflows/release.yml");
  for (const name of ["VERSION", "REVISION", "SOURCE"]) expect(release).toContain(`${name}=\${{ `);
  expect(release).toContain(`IMAGE: ${defaultImage.split(":")[0]}\n`);
});

it("can be pinned by digest, beside its tag or instead of it", () => {
  const digest = `sha256:${"0".repeat(64)}`;
  for (const pinned of [`${defaultImage}@${digest}`, `${defaultImage.split(":")[0]}@${digest}`]) {
    expect(imageOf({ image: pinned })).toBe(pinned);
    expect(proxyImage().matches(pinned)).toBe(true);
  }
});

it("the native plane's crates have the version of the package", () => {
  expect(/^version = "(.*)"$/m.exec(read("proxy-image/native/Cargo.toml"))?.[1]).toBe(version);
});

describe("the crates that the bill of materials lists", () => {
  const crates: Crate[] = JSON.parse(readFileSync(cratesFile, "utf8"));

  it("are those of the lockfile, each with a licence that may be passed on", async () => {
    const locked = await lockedChecksums();
    expect(crates.length).toBeGreaterThan(0);
    for (const { name, version, checksum, license, text } of crates) {
      expect(locked.get(`${name} ${version}`), name).toBe(checksum);
      expect(license, name).toMatch(/MIT|Apache-2\.0|ISC|Unlicense/);
      if (!license.includes("Apache-2.0")) expect(text, name).toBeTruthy();
    }
  });

  it("are all that the plane links", async ({ skip }) => {
    const linked = await linkedCrates().catch((error: Error) => {
      if (process.env.REQUIRE_REAL_PEERS === "1") throw error;
      return skip(`no cargo here: ${error.message}`);
    });
    expect(linked).toEqual(crates);
  }, 120_000);
});
