import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ConfigMap,
  LocalWorkspace,
  type ProjectSettings,
  PulumiCommand,
  type PulumiFn,
  type Stack,
} from "@pulumi/pulumi/automation/index.js";
import { afterAll } from "vitest";
import { engineEnv, ensureEngine } from "../../tools/engine/index.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { type Captured, capture } from "../../tools/lib/run.ts";

/**
 * The real engine for the tests of one file: a Pulumi home and a file backend of its own in a temporary folder,
 * the pinned Node first on the PATH, and the local `cpln` provider. The folder goes when the file is done.
 */
interface Session {
  dir: string;
  cli: string;
  env: Record<string, string>;
  automation: PulumiCommand;
}

let session: Promise<Session> | undefined;

// A hook, because vitest ends its workers by a signal, after which no exit handler runs.
afterAll(async () => {
  if (session !== undefined) await rm((await session).dir, { recursive: true, force: true });
});

/** The engine reads more settings than the SDK declares. */
export interface TestProject extends ProjectSettings {
  options?: { refresh?: "always" };
}

/** Settings of a project whose `cpln` is the simulator's provider, found without the PATH. */
export function projectSettings(project: TestProject): TestProject {
  const plugins = { providers: [{ name: "cpln", path: fromRoot("simulator", "provider") }] };
  return { runtime: "nodejs", ...project, ...{ plugins } };
}

/** Makes `dir` a Pulumi project. A `main` outside it is an absolute path. */
export async function writeProject(dir: string, project: TestProject): Promise<void> {
  await mkdir(dir, { recursive: true });
  // JSON is YAML.
  await writeFile(join(dir, "Pulumi.yaml"), JSON.stringify(projectSettings(project), undefined, 2));
}

export interface InlineStackOptions {
  /** Given to the engine and to the provider, above what they get anyway. */
  env?: Record<string, string>;
  config?: ConfigMap;
  project?: TestProject;
}

let inlineStacks = 0;

/** Gives `use` a stack of the inline `program`; then destroys its resources and removes it, come what may. */
export async function withInlineStack<T>(
  program: PulumiFn,
  use: (stack: Stack) => Promise<T>,
  options: InlineStackOptions = {},
): Promise<T> {
  const { dir, env, automation } = await openSession();
  const settings = projectSettings(options.project ?? { name: `inline-${++inlineStacks}` });
  const stack = await LocalWorkspace.createStack(
    { stackName: "test", projectName: settings.name, program },
    {
      // Else the Automation API makes a folder that nobody removes.
      workDir: await mkdtemp(join(dir, "inline-")),
      projectSettings: settings,
      pulumiCommand: automation,
      envVars: { ...env, ...options.env },
    },
  );
  let failure: unknown;
  try {
    await stack.setAllConfig(options.config ?? {});
    return await use(stack);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    await stack.destroy({ remove: true }).catch((error) => {
      throw failure === undefined ? error : new AggregateError([failure, error], String(failure));
    });
  }
}

export interface CliOptions {
  cwd: string;
  env?: Record<string, string>;
  /** The exit code that the test expects; `preview --expect-no-changes` answers a change with 7. */
  exitCode?: number;
}

/** Runs `pulumi` as a user would. Throws with everything printed where the exit code is another. */
export async function pulumiCli(args: readonly string[], options: CliOptions): Promise<Captured> {
  const { cli, env } = await openSession();
  const result = await capture(cli, args, { cwd: options.cwd, env: { ...env, ...options.env } });
  const expected = options.exitCode ?? 0;
  if (result.code === expected) return result;
  throw new Error(
    `pulumi ${args.join(" ")}: exit code ${result.code}, not ${expected}\n${result.stdout}${result.stderr}`,
  );
}

function openSession(): Promise<Session> {
  session ??= startSession();
  return session;
}

async function startSession(): Promise<Session> {
  const engine = await ensureEngine();
  const dir = await mkdtemp(join(tmpdir(), "cpln-engine-"));
  const state = join(dir, "state");
  await mkdir(state);
  // The Automation API looks for the engine with, and adds to, this process's own environment: what a developer
  // has set there for real stacks must not reach a test's.
  for (const name of Object.keys(process.env)) {
    if (/^(PULUMI|CPLN)_/.test(name) && name !== "CPLN_CLI") delete process.env[name];
  }
  const env = {
    ...engineEnv(engine),
    PULUMI_HOME: join(dir, "home"),
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: "test",
  };
  process.env.PATH = env.PATH;
  return { dir, cli: join(engine.binDir, "pulumi"), env, automation: await PulumiCommand.get() };
}
