/** An app that installs the packed packages has its own `@pulumi/pulumi` and no second one. */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fromRoot } from "../../tools/lib/root.ts";

/** Another 3.x than the checkout's. */
const OTHER = "3.268.0";

const folder = mkdtempSync(join(tmpdir(), "cpln-one-copy-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function pack(project: string, manifest: string): string {
  const staged = join(folder, project === "tsconfig.build.json" ? "component" : "sdk");
  mkdirSync(staged);
  copyFileSync(fromRoot(manifest), join(staged, "package.json"));
  const tsc = fromRoot("node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [tsc, "-p", fromRoot(project), "--outDir", join(staged, "dist")]);
  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: staged,
    encoding: "utf8",
  });
  const [found] = JSON.parse(packed) as { filename: string }[];
  return `file:../${found?.filename}`;
}

it("one copy of Pulumi, the app's own", { timeout: 120_000 }, (context) => {
  const app = join(folder, "app");
  mkdirSync(app);
  const dependencies = {
    "@pulumi/pulumi": OTHER,
    "@pulumiverse/cpln": pack("sdks/cpln/tsconfig.json", "sdks/cpln/package.json"),
    "cpln-scale-to-zero": pack("tsconfig.build.json", "package.json"),
  };
  writeFileSync(join(app, "package.json"), JSON.stringify({ private: true, dependencies }));
  const quick = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  const installed = spawnSync("npm", ["install", ...quick], { cwd: app, encoding: "utf8" });
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(installed.stderr)) {
    context.skip("the registry can't be reached");
  }
  expect(installed.stderr + installed.stdout).not.toMatch(/ERR!/);

  const at = (from: string) => createRequire(join(app, from)).resolve("@pulumi/pulumi/package.json");
  const own = at("index.js");
  expect(createRequire(join(app, "index.js"))(own).version).toBe(OTHER);
  for (const name of ["cpln-scale-to-zero", "@pulumiverse/cpln"]) {
    expect(at(`node_modules/${name}/dist/index.js`), name).toBe(own);
  }
  const program =
    'const { ScaleToZeroTcp, version } = require("cpln-scale-to-zero"); console.log(version, ScaleToZeroTcp.name)';
  const ran = spawnSync(process.execPath, ["-e", program], { cwd: app, encoding: "utf8" });
  expect(ran.stdout).toMatch(/^0\.\d+\.\d+ ScaleToZeroTcp$/m);
});
