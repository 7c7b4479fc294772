import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type ConfigMap,
  LocalWorkspace,
  type ProjectSettings,
  type PulumiFn,
  type Stack,
} from "@pulumi/pulumi/automation/index.js";
import { afterAll } from "vitest";
import { type EngineSession, localPlugins, openEngineSession } from "../../tools/engine/session.ts";
import { type Captured, capture } from "../../tools/lib/run.ts";

/** The real engine for the tests of one file. Its folder goes when the file is done. */
let session: Promise<EngineSession> | undefined;

function openSession(): Promise<EngineSession> {
  session ??= openEngineSession();
  return session;
}

// A hook, because vitest ends its workers by a signal, after which no exit handler runs.
afterAll(async () => {
  if (session !== undefined) await (await session).dispose();
});

/** The engine reads more settings than the SDK declares. */
export interface TestProject extends ProjectSettings {
  options?: { refresh?: "always" };
}

/** Settings of a project whose `cpln` is the simulator's provider, found without the PATH. */
export function projectSettings(project: TestProject): TestProject {
  return { runtime: "nodejs", ...project, ...{ plugins: localPlugins } };
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
