import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { npmBinDir } from "../lib/root.ts";
import { buildFromModules } from "./build.ts";
import { installOfficial } from "./install.ts";
import {
  cachedEngineDir,
  cliName,
  engineCacheDir,
  type Found,
  findCached,
  findOnPath,
  pulumiVersion,
} from "./locate.ts";
import { withLock } from "./lock.ts";
import { Unavailable } from "./unavailable.ts";
import { engineVersion, goVersion, oldestEngineVersion } from "./versions.ts";

export type EngineSource = "path" | "cache" | "installed" | "built";

export interface Engine extends Found {
  source: EngineSource;
}

const scratchPrefix = ".making-";

let engine: Promise<Engine> | undefined;

/**
 * The real Pulumi engine: the user's own if it will do, else the cached one, else the official one by its
 * installer, else one built from the Go modules. Rejects with what to install where none of these is possible.
 */
export function ensureEngine(): Promise<Engine> {
  engine ??= obtain();
  return engine;
}

/**
 * An environment in which `pulumi` is that engine and `node` the pinned Node: programs and providers are run by
 * whatever Node the engine finds. Plugins come from the checkout alone; looking for them elsewhere takes seconds
 * and ends in a misleading message.
 */
export function engineEnv(
  found: Found,
  base: NodeJS.ProcessEnv = process.env,
): Record<string, string> & { PATH: string } {
  const defined = Object.entries(base).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...Object.fromEntries(defined),
    PATH: [npmBinDir, found.binDir, base.PATH ?? ""].join(delimiter),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
}

async function obtain(): Promise<Engine> {
  const reasons: string[] = [];
  const attempt = async (source: EngineSource, find: () => Promise<Found>): Promise<Engine | undefined> => {
    try {
      return { ...(await find()), source };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      reasons.push(error.message);
      return undefined;
    }
  };

  const make = async (): Promise<Engine | undefined> => {
    // Another command may have made it while this one waited for the lock.
    const made = fromCache();
    if (made !== undefined) return made;
    await removeLeftovers();
    return (
      (await attempt("installed", () => makeCached(installOfficial))) ??
      (await attempt("built", () => makeCached(buildFromModules)))
    );
  };

  const obtained = (await attempt("path", findOnPath)) ?? fromCache() ?? (await withCacheLock(make));
  if (obtained !== undefined) return obtained;
  throw new Error(
    `There is no Pulumi engine, and none could be made:\n${reasons.map((reason) => `  - ${reason}`).join("\n")}\n` +
      `Install the Pulumi CLI ${oldestEngineVersion} or later, or Go ${goVersion} or later, or Python with pip.`,
  );
}

function fromCache(): Engine | undefined {
  const found = findCached();
  return found && { ...found, source: "cache" };
}

async function withCacheLock<T>(work: () => Promise<T>): Promise<T> {
  await mkdir(engineCacheDir(), { recursive: true });
  const onWait = () => console.error("Waiting for another command that is making the Pulumi engine.");
  return withLock(`${cachedEngineDir()}.lock`, onWait, work);
}

/** Makes an engine in a folder of its own, which gets its final name only when the engine has answered. */
async function makeCached(makeIn: (dir: string) => Promise<void>): Promise<Found> {
  const dir = await mkdtemp(join(engineCacheDir(), scratchPrefix));
  try {
    await makeIn(dir);
    const version = await pulumiVersion(join(dir, "bin", cliName));
    if (version !== engineVersion) {
      throw new Unavailable(`the engine made says that it is ${version}, not ${engineVersion}`);
    }
    return await publish(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function publish(dir: string): Promise<Found> {
  const target = cachedEngineDir();
  await mkdir(target, { recursive: true });
  try {
    await rename(join(dir, "bin"), join(target, "bin"));
  } catch (error) {
    // Another command was faster, which is as good.
    if (findCached() === undefined) throw error;
  }
  return { binDir: join(target, "bin"), version: engineVersion };
}

/** What an interrupted command left; called under the lock, so nobody is at work in them. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(engineCacheDir())) {
    if (name.startsWith(scratchPrefix))
      await rm(join(engineCacheDir(), name), { recursive: true, force: true });
  }
}
