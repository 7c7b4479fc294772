/** Every example, as its reader would run it: `pulumi up` on the folder, the CI's own steps, the script. */
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
// @ts-expect-error: it brings no types, and is here because the SDK needs it
import yaml from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EngineSession, localPlugins, openEngineSession } from "../../tools/engine/session.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { capture } from "../../tools/lib/run.ts";
import { writeProject } from "../support/engine.ts";
import { org, useDocuments } from "./component-support.ts";

const documents = useDocuments("prod", "staging");
let session: EngineSession;
beforeAll(async () => {
  session = await openEngineSession();
  await documents.createTarget("prod", "sftp", "sftp-proxy");
  await documents.createTarget("staging", "sftp", "sftp-proxy");
});
afterAll(() => session.dispose());

/** Runs a command as a person would in `cwd`, and gives all that it printed. */
async function run(
  command: string,
  args: string[],
  cwd: string,
  more: Record<string, string> = {},
): Promise<string> {
  const env = { ...session.env, ...documents.env, ...more };
  const { code, stdout, stderr } = await capture(command, args, { cwd, env });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
  return stdout + stderr;
}
const pulumi = (cwd: string, ...args: string[]) => run(session.cli, [...args, "--non-interactive"], cwd);

/** The example's project in a folder of its own, so that no stack's settings are left in the checkout. */
async function projectOf(example: string): Promise<string> {
  const dir = join(session.dir, example);
  // The checkout's own project is the one that needs no code.
  const folder = example === "from-config" ? [] : ["examples", example];
  const text = await readFile(fromRoot(...folder, "Pulumi.yaml"), "utf8");
  const project = yaml.load(text) as { name: string; runtime: { name: string }; main: string };
  const main = fromRoot(...folder, project.main);
  await writeProject(dir, { ...project, main } as never);
  await pulumi(dir, "stack", "init", "test");
  await pulumi(dir, "config", "set-all", "--stack", "test", ...(config[example] ?? []));
  return dir;
}

/** Each a `key=value` of the stack's configuration, as `pulumi config set-all` takes them. */
const config: Record<string, string[]> = {
  "several-targets": ["--path", "--plaintext", "allow[0]=0.0.0.0/0"],
  internal: ["--secret", "password=only-a-test"],
  "from-config": ["--path", "--plaintext", "settings.idleHold=10m"],
};
const proxies: Record<string, [string, string, string[]]> = {
  "several-targets": ["several-targets", "shared-proxy", ["sftp", "broker"]],
  internal: ["internal-database", "database-proxy", ["database"]],
};

describe.each(["several-targets", "internal"])("examples/%s", (example) => {
  it("comes up by its configuration, is left alone, and goes", async () => {
    const dir = await projectOf(example);
    await pulumi(dir, "up", "--yes", "--stack", "test");
    const [gvc, proxy, targets] = proxies[example] as [string, string, string[]];
    const made = JSON.stringify(documents.get("workload", proxy, gvc)?.spec ?? {});
    for (const target of targets) expect(made).toContain(`{\\"workload\\":\\"${target}\\"`);
    expect(made.includes('"direct"')).toBe(example !== "internal");
    await pulumi(dir, "preview", "--expect-no-changes", "--stack", "test");
    await pulumi(dir, "destroy", "--yes", "--stack", "test");
    expect(documents.get("workload", proxy, gvc)).toBeUndefined();
  });
});

interface Workflow {
  env: Record<string, string>;
  jobs: Record<string, { if: string; steps: { run?: string; uses?: string }[] }>;
}

it("the checkout's own project needs no code, and examples/ci previews and updates it by its own steps", async () => {
  const workflow = yaml.load(await readFile(fromRoot("examples", "ci", "pulumi.yml"), "utf8")) as Workflow;
  const dir = await projectOf("from-config");
  const readme = await readFile(fromRoot("README.md"), "utf8");
  const settings = readme.match(/^pulumi config set .*$/gm) ?? [];
  await run("sh", ["-e", "-c", settings.join("\n")], dir);
  const stepsOf = async (job: string) => {
    let printed = "";
    for (const { run: script } of workflow.jobs[job]?.steps ?? []) {
      // The checkout has its modules already.
      if (script === undefined || script === "npm ci") continue;
      printed += await run("sh", ["-e", "-c", script], dir, { PULUMI_STACK: "test" });
    }
    return printed;
  };
  expect(await stepsOf("preview")).toMatch(/4 to create|\+ \d+ to create/);
  expect(documents.get("workload", "sftp-proxy", "prod")).toBeUndefined();
  expect(await stepsOf("up")).toContain("ports");
  const made = JSON.stringify(documents.get("workload", "sftp-proxy", "prod"));
  expect(made).toContain(`{\\"workload\\":\\"sftp\\",\\"gvc\\":\\"prod\\"`);
  expect(made).toContain('\\"idleHold\\":\\"10m\\"');
  await pulumi(dir, "preview", "--expect-no-changes", "--stack", "test");
  await pulumi(dir, "destroy", "--yes", "--stack", "test");
});

it("examples/automation deploys tenants in parallel, with progress and outputs, and takes them away", async () => {
  const script = fromRoot("examples", "automation", "index.mts");
  const env = {
    TARGETS: "prod/sftp,staging/sftp",
    PATH: [localPlugins.providers[0]?.path, session.env.PATH].join(delimiter),
  };
  const said = await run(process.execPath, [script], fromRoot(), env);
  for (const gvc of ["prod", "staging"]) {
    expect(said).toMatch(new RegExp(`^${gvc}-sftp: planned: \\{"create":\\d+\\}`, "m"));
    expect(said).toContain(`${gvc}-sftp: create cpln:index/workload:Workload ...`);
    expect(said).toContain(`${gvc}-sftp: proxy: /org/${org}/gvc/${gvc}/workload/sftp-proxy`);
  }
  const gone = await run(process.execPath, [script, "destroy"], fromRoot(), env);
  expect(gone).toContain("staging-sftp: the workload is left as it is.");
  for (const gvc of ["prod", "staging"]) {
    expect(documents.get("workload", "sftp-proxy", gvc)).toBeUndefined();
    expect(documents.get("workload", "sftp", gvc)).toBeDefined();
  }
});
