import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PulumiCommand } from "@pulumi/pulumi/automation/index.js";
import { fromRoot } from "../lib/root.ts";
import { type Engine, engineEnv, ensureEngine } from "./index.ts";

/** A Pulumi home and a file backend of their own in a temporary folder, and the engine to use them with. */
export interface EngineSession {
  engine: Engine;
  dir: string;
  /** The path of `pulumi`. */
  cli: string;
  env: Record<string, string>;
  /** For the Automation API. */
  automation: PulumiCommand;
  /** Removes the folder, state and all. */
  dispose(): Promise<void>;
}

/** Where the local provider is, for a project's `plugins`. */
export const localPlugins = { providers: [{ name: "cpln", path: fromRoot("simulator", "provider") }] };

export async function openEngineSession(): Promise<EngineSession> {
  const engine = await ensureEngine();
  const dir = await mkdtemp(join(tmpdir(), "cpln-engine-"));
  const state = join(dir, "state");
  await mkdir(state);
  // The Automation API looks for the engine with, and adds to, this process's own environment: what a developer
  // has set there for real stacks must not reach these.
  for (const name of Object.keys(process.env)) {
    if (/^(PULUMI|CPLN)_/.test(name) && name !== "CPLN_CLI") delete process.env[name];
  }
  const env = {
    ...engineEnv(engine),
    PULUMI_HOME: join(dir, "home"),
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: "local",
  };
  process.env.PATH = env.PATH;
  return {
    engine,
    dir,
    cli: join(engine.binDir, "pulumi"),
    env,
    automation: await PulumiCommand.get(),
    dispose: () => rm(dir, { recursive: true, force: true }),
  };
}
