/** What `npm pack` makes of the root is a package that others can install, import and type-check. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");

/** Compilers and npm run here, on a machine that does other things too. */
const SLOW = 120_000;

let folder: string;
let staged: string;
let tarball: string;
let files: string[];

interface Manifest {
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  type?: string;
  main?: string;
  types?: string;
}
const manifest = (): Manifest => JSON.parse(readFileSync(join(staged, "package.json"), "utf8"));

// Built and packed apart from the checkout, so that what lies in its `dist` can't matter.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cpln-package-"));
  staged = join(folder, "package");
  mkdirSync(staged);
  for (const file of ["package.json", "README.md", "LICENSE", "CHANGELOG.md"]) {
    if (existsSync(join(root, file))) copyFileSync(join(root, file), join(staged, file));
  }
  execFileSync(process.execPath, [
    tsc,
    "-p",
    join(root, "tsconfig.build.json"),
    "--outDir",
    join(staged, "dist"),
  ]);
  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: staged,
    encoding: "utf8",
  });
  const [found] = JSON.parse(packed) as { filename: string; files: { path: string }[] }[];
  tarball = join(folder, found?.filename ?? "");
  files = (found?.files ?? []).map(({ path }) => path);
}, SLOW);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("the package", { timeout: SLOW }, () => {
  it("holds what is compiled and nothing else", () => {
    const expected = /^(dist\/.*\.(js|d\.ts)|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
    expect(files.filter((file) => !expected.test(file))).toEqual([]);
    expect(files).toContain("dist/index.js");
    expect(files).toContain("dist/index.d.ts");
  });

  it("brings zod and leaves Pulumi and the provider to its user", () => {
    const { dependencies, peerDependencies, type } = manifest();
    expect(Object.keys(dependencies ?? {})).toEqual(["zod"]);
    expect(peerDependencies).toEqual({ "@pulumi/pulumi": "^3.142.0", "@pulumiverse/cpln": ">=0.0.89 <1" });
    // `pulumi up` compiles programs and packages of this kind alone.
    expect(type).toBe("commonjs");
  });

  it("imports nothing but those, and what Node brings", () => {
    const imported = files
      .filter((file) => file.endsWith(".js"))
      .flatMap((file) => [...readFileSync(join(staged, file), "utf8").matchAll(/require\("([^".][^"]*)"\)/g)])
      .map(([, from]) => from);
    expect([...new Set(imported)].sort()).toEqual([
      "@pulumi/pulumi",
      "@pulumiverse/cpln",
      "node:crypto",
      "zod/mini",
    ]);
  });

  it("leaves publint nothing to say", async () => {
    const { messages, pkg } = await publint({ pkgDir: staged, strict: true, pack: false });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it("leaves attw nothing to say", () => {
    const attw = join(root, "node_modules", "@arethetypeswrong", "cli", "dist", "index.js");
    const said = spawnSync(
      process.execPath,
      [attw, tarball, "--format", "ascii", "--no-color", "--no-emoji"],
      {
        encoding: "utf8",
      },
    );
    expect(`${said.stdout}${said.stderr}`).toContain("No problems found");
    expect(said.status).toBe(0);
  });
});

describe("a program with the package installed", { timeout: SLOW }, () => {
  const from = (path: string) => join(folder, "app", path);
  beforeAll(() => {
    mkdirSync(from("node_modules"), { recursive: true });
    execFileSync("tar", ["-xzf", tarball, "-C", from("node_modules")]);
    execFileSync("mv", [from("node_modules/package"), from("node_modules/cpln-scale-to-zero")]);
    for (const name of ["zod", "@pulumi/pulumi", "@types/node"]) link(name, join(root, "node_modules", name));
    // The SDK subset, typed from its source.
    link("@pulumiverse/cpln", join(root, "sdks", "cpln"));
  });
  const link = (name: string, target: string) => {
    mkdirSync(dirname(from(`node_modules/${name}`)), { recursive: true });
    symlinkSync(target, from(`node_modules/${name}`));
  };

  it("type-checks, as CommonJS and as a module", () => {
    const program = `
      import { Exposure, proxyWorkloadLink, ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "cpln-scale-to-zero";
      const args: ScaleToZeroTcpArgs = { gvc: "g", target: "t", ports: [{ port: 2022 }], expose: Exposure.Internal };
      export const made = new ScaleToZeroTcp("x", { ...args, expose: "public", allow: ["0.0.0.0/0"] });
      export const link = proxyWorkloadLink({ gvc: "g", name: "x" });
    `;
    for (const file of ["index.cts", "index.mts"]) writeFileSync(from(file), program);
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--types", "node"];
    const checked = spawnSync(process.execPath, [tsc, ...options, "index.cts", "index.mts"], {
      cwd: from(""),
      encoding: "utf8",
    });
    expect(checked.stdout).toBe("");
  });
});
