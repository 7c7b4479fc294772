/**
 * `node tools/workflows/actionlint.ts`: checks the workflow files, offline. The linter is built from its Go module,
 * once for this machine, outside the checkout. Exits with 0 and says so where there is no Go, unless
 * REQUIRE_REAL_PEERS=1.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findGo } from "../engine/go.ts";
import { engineCacheDir } from "../engine/locate.ts";
import { root } from "../lib/root.ts";
import { capture } from "../lib/run.ts";

const moduleDir = fileURLToPath(new URL("go", import.meta.url));

/** The linter's path. Throws where it can't be built. */
export async function ensureActionlint(): Promise<string> {
  const version = /actionlint v(\S+)/.exec(await readFile(join(moduleDir, "go.mod"), "utf8"))?.[1];
  const tools = join(dirname(engineCacheDir()), "tools");
  const file = join(tools, `actionlint-${version}-${process.platform}-${process.arch}`);
  if (existsSync(file)) return file;
  const scratch = await mkdtemp(join(tmpdir(), "cpln-actionlint-"));
  try {
    const go = await findGo(scratch);
    const built = join(scratch, "actionlint");
    const args = [
      "build",
      "-mod=readonly",
      "-trimpath",
      "-o",
      built,
      "github.com/rhysd/actionlint/cmd/actionlint",
    ];
    const { code, stderr } = await capture(go.command, args, { cwd: moduleDir, env: go.env });
    if (code !== 0) throw new Error(`go build of actionlint failed\n${stderr}`);
    await mkdir(tools, { recursive: true });
    // Complete before it has its name; the folders may lie on two file systems.
    await capture("cp", [built, `${file}.${process.pid}`]);
    await rename(`${file}.${process.pid}`, file);
    return file;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What is wrong with these workflow files, or all of the checkout's own; nothing where nothing is. */
export async function lintWorkflows(actionlint: string, files: string[] = []): Promise<string> {
  const { code, stdout, stderr } = await capture(actionlint, ["-no-color", ...files], { cwd: root });
  return code === 0 ? "" : `${stdout}${stderr}`;
}

if (import.meta.main) {
  const linter = await ensureActionlint().catch((error: Error) => error);
  if (linter instanceof Error) {
    console.error(`actionlint: ${linter.message}`);
    if (process.env.REQUIRE_REAL_PEERS === "1") process.exitCode = 1;
  } else {
    const problems = await lintWorkflows(linter);
    console.log(problems === "" ? "ok    workflow files" : problems);
    if (problems !== "") process.exitCode = 1;
  }
}
