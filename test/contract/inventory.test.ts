/** What the build says of others' work: all of it that the bundle and the native plane hold, and nothing else. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundledPackages, planeCrates } from "../../proxy-image/image/inventory.mjs";
import { fromRoot } from "../../tools/lib/root.ts";

describe("the packages of a bundle", () => {
  let checkout: string;
  beforeEach(async () => {
    checkout = await mkdtemp(join(tmpdir(), "cpln-inventory-"));
  });
  afterEach(() => rm(checkout, { recursive: true, force: true }));

  async function put(path: string, content: string): Promise<void> {
    const file = join(checkout, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  async function install(folder: string, name: string, license?: string): Promise<void> {
    await put(`${folder}/package.json`, JSON.stringify({ name, version: "1.0.0", license }));
    if (license !== undefined) await put(`${folder}/LICENSE`, `${license} of ${name}\n`);
  }
  const found = (...inputs: string[]) => {
    const metafile = { inputs: Object.fromEntries(inputs.map((input) => [input, {}])) };
    return bundledPackages(metafile, join(checkout, "program"));
  };

  it("are those that its inputs come from, once each, scoped and nested ones too", async () => {
    await install("node_modules/one", "one", "MIT");
    await install("node_modules/@scope/two", "@scope/two", "ISC");
    await install("node_modules/one/node_modules/three", "three", "MIT");
    await install("node_modules/unused", "unused", "MIT");
    const packages = found(
      ...["src/main.ts", "../src/contract/index.ts", "<define:NAME>"],
      ...["../node_modules/one/a.js", "../node_modules/one/lib/b.js", "../node_modules/@scope/two/c.js"],
      "../node_modules/one/node_modules/three/d.js",
    );
    expect(packages.map(({ name, license, text }) => [name, license, text])).toEqual([
      ["@scope/two", "ISC", "ISC of @scope/two"],
      ["one", "MIT", "MIT of one"],
      ["three", "MIT", "MIT of three"],
    ]);
  });

  it("end the build where one may not be passed on, or where a file is nobody's", async () => {
    await install("node_modules/silent", "silent");
    expect(() => found("../node_modules/silent/a.js")).toThrow("silent comes without a licence");
    expect(() => found("../../elsewhere/a.js")).toThrow(/nobody's/);
  });
});

describe("what the checkout has built", () => {
  const dist = (name: string) => readFileSync(fromRoot("proxy-image", "dist", name), "utf8");
  const bill = (): { components: { name: string; version: string; purl: string }[] } =>
    JSON.parse(dist("sbom.cdx.json"));

  it("lists the packages that esbuild has read, with the very words of their licences", () => {
    const inputs = Object.keys(JSON.parse(dist("meta.json")).inputs);
    const names = inputs.flatMap((input) => input.split("node_modules/")[1]?.split("/")[0] ?? []);
    expect(names.length).toBeGreaterThan(0);
    const listed = bill().components.filter(({ purl }) => purl.startsWith("pkg:npm/"));
    expect(listed.map(({ name }) => name)).toEqual([...new Set(names)].sort());
    for (const { name } of listed) {
      expect(dist("licenses.txt")).toContain(
        readFileSync(fromRoot("node_modules", name, "LICENSE"), "utf8").trim(),
      );
    }
  });

  it("lists what the native plane links exactly where there is one", () => {
    const plane = existsSync(fromRoot("proxy-image", "dist", "splice.node"));
    const linked = planeCrates(fromRoot("proxy-image")).map(({ name, version }) => `${name} ${version}`);
    expect(linked.length > 0).toBe(plane);
    if (plane) expect(linked.at(-1)).toMatch(/^rust-std 1\.\d+\.\d+$/);
  });
});
