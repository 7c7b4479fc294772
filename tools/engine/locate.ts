import { accessSync, constants, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { capture } from "../lib/run.ts";
import { Unavailable } from "./unavailable.ts";
import { engineVersion, oldestEngineVersion, satisfies, versionIn } from "./versions.ts";

/** A folder with `pulumi` and the Node language host, which `pulumi up` on a program folder needs. */
export interface Found {
  binDir: string;
  version: string;
}

export const cliName = "pulumi";
export const hostName = "pulumi-language-nodejs";

/** Engines of this project's making. Outside the checkout, so that every clone shares them. */
export function engineCacheDir(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(cache, "cpln-scale-to-zero", "engine");
}

/** Platform in the name: a home folder may be shared between machines. */
export const cachedEngineDir = () =>
  join(engineCacheDir(), `${engineVersion}-${process.platform}-${process.arch}`);

/** Folders get their final name only when complete, so a name is enough to go by. */
export function findCached(): Found | undefined {
  const binDir = join(cachedEngineDir(), "bin");
  return isExecutable(join(binDir, cliName)) ? { binDir, version: engineVersion } : undefined;
}

/** The engine on the PATH, if it will do. */
export async function findOnPath(): Promise<Found> {
  const cli = which(cliName);
  if (cli === undefined) throw new Unavailable(`no ${cliName} on the PATH`);
  if (which(hostName) === undefined && !isExecutable(join(dirname(realpathSync(cli)), hostName))) {
    throw new Unavailable(`${cli} comes without ${hostName}`);
  }
  const version = await pulumiVersion(cli);
  if (version === undefined || !satisfies(version, oldestEngineVersion)) {
    throw new Unavailable(
      `${cli} is ${version ?? "of no known version"}, not ${oldestEngineVersion} or later`,
    );
  }
  return { binDir: dirname(cli), version };
}

export async function pulumiVersion(cli: string): Promise<string | undefined> {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  try {
    const { code, stdout } = await capture(cli, ["version"], { env });
    return code === 0 ? versionIn(stdout) : undefined;
  } catch {
    return undefined;
  }
}

export function which(command: string): string | undefined {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .filter((dir) => dir !== "")
    .map((dir) => join(dir, command))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
