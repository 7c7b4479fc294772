import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startProgress } from "../lib/progress.ts";
import { fromRoot } from "../lib/root.ts";
import { capture } from "../lib/run.ts";
import { findGo, type Go } from "./go.ts";
import { Unavailable } from "./unavailable.ts";
import { cliModuleDir, engineVersion, hostModuleDir, nodeHostVersion } from "./versions.ts";

const versionVariable = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version";
/** The end of a failed build's output that is shown. */
const failureLines = 20;

/** Builds the engine and the Node language host from their Go modules into `dir`/bin. */
export async function buildFromModules(dir: string): Promise<void> {
  const go = await findGo(dir);
  const binDir = join(dir, "bin");
  await mkdir(binDir, { recursive: true });
  console.error("Building the Pulumi engine from its Go modules: some minutes, once for this machine.");
  await buildPackage(go, {
    title: `Node language host ${nodeHostVersion}`,
    module: hostModuleDir,
    package: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
    version: nodeHostVersion,
    binDir,
  });
  await buildPackage(go, {
    title: `Pulumi engine ${engineVersion}`,
    module: cliModuleDir,
    package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    version: engineVersion,
    binDir,
  });
  // Official CLIs bring this one too. It serves dynamic resources, and is a script of the SDK.
  const script = "pulumi-resource-pulumi-nodejs";
  await copyFile(fromRoot("node_modules", "@pulumi", "pulumi", script), join(binDir, script));
}

interface Build {
  title: string;
  module: string;
  package: string;
  version: string;
  binDir: string;
}

async function buildPackage(go: Go, build: Build): Promise<void> {
  const progress = startProgress(build.title);
  let downloaded = 0;
  let compiled = 0;
  const args = [
    ...["build", "-v", "-mod=readonly", "-trimpath"],
    // The engine compares its own version with the ones that SDKs and plugins ask for.
    ...["-ldflags", `-s -w -X ${versionVariable}=v${build.version}`],
    ...["-o", `${build.binDir}/`, build.package],
  ];
  const { code, stderr } = await capture(go.command, args, {
    cwd: build.module,
    env: go.env,
    onStderrLine: (line) => {
      if (line.startsWith("go: downloading")) progress.update(`${++downloaded} modules downloaded`);
      else progress.update(`${++compiled} packages compiled`);
    },
  });
  progress.done(code === 0 ? "done" : "failed");
  if (code === 0) return;
  const tail = stderr.trim().split("\n").slice(-failureLines).join("\n");
  throw new Unavailable(`go build of ${build.package} failed:\n${tail}`);
}
