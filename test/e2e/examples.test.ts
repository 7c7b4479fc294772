/**
 * Every example, as its reader would run it: `pulumi up` on the folder, the script, and the shell blocks of the docs as
 * they stand. The CI's own steps are run by app.test.ts.
 */
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
// @ts-expect-error: it brings no types, and is here because the SDK needs it
import yaml from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EngineSession, localPlugins, openEngineSession } from "../../tools/engine/session.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { capture } from "../../tools/lib/run.ts";
import { allBlocks, pages, runnableBlocks, spokenCommands } from "../support/doc-blocks.ts";
import { commandsIn } from "../support/doc-commands.ts";
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
  return dir;
}

/** Each a `key=value` of the stack's configuration, as `pulumi config set-all` takes them. */
const config: Record<string, string[]> = {
  "several-targets": ["--path", "--plaintext", "allow[0]=0.0.0.0/0"],
  internal: ["--secret", "password=only-a-test"],
};
const proxies: Record<string, [string, string, string[]]> = {
  "several-targets": ["several-targets", "shared-proxy", ["sftp", "broker"]],
  internal: ["internal-database", "database-proxy", ["database"]],
};

describe.each(["several-targets", "internal"])("examples/%s", (example) => {
  it("comes up by its configuration, is left alone, and goes", async () => {
    const dir = await projectOf(example);
    await pulumi(dir, "stack", "init", "test");
    await pulumi(dir, "config", "set-all", "--stack", "test", ...(config[example] ?? []));
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

/** What the docs tell to run, less what a test has run already. */
const told = new Set(runnableBlocks());

/** Runs the only such block of a page, as a reader who copies it does. */
function runAsTold(page: string, cwd: string, env: Record<string, string> = {}): Promise<string> {
  const blocks = [...told].filter((block) => block.page === page);
  expect(blocks.length, page).toBe(1);
  for (const block of blocks) told.delete(block);
  return run("bash", ["-e", "-c", blocks[0]?.code ?? ""], cwd, env);
}

it("the checkout's own project needs no code: the README's commands are enough", async () => {
  const dir = await projectOf("from-config");
  // Instead of a person who says yes.
  await runAsTold("README.md", dir, { PULUMI_SKIP_CONFIRMATIONS: "true" });
  const settings = () => JSON.stringify(documents.get("workload", "sftp-proxy", "prod"));
  expect(settings()).toContain(`{\\"workload\\":\\"sftp\\",\\"gvc\\":\\"prod\\"`);
  expect(settings()).not.toContain("idleHold");
  await pulumi(dir, "config", "set", "--path", "settings.idleHold", "10m");
  await pulumi(dir, "up", "--yes");
  expect(settings()).toContain('\\"idleHold\\":\\"10m\\"');
  await pulumi(dir, "preview", "--expect-no-changes");
  await pulumi(dir, "destroy", "--yes");
});

it("examples/automation deploys tenants in parallel, with progress and outputs, and takes them away", async () => {
  const path = [join(process.execPath, ".."), localPlugins.providers[0]?.path, session.env.PATH];
  documents.it.recorder.clear();
  const said = await runAsTold("docs/automation.md", fromRoot(), { PATH: path.join(delimiter) });
  for (const gvc of ["prod", "staging"]) {
    expect(said).toMatch(new RegExp(`^${gvc}-sftp: planned: \\{"create":\\d+\\}`, "m"));
    expect(said).toContain(`${gvc}-sftp: create cpln:index/workload:Workload ...`);
    expect(said).toContain(`${gvc}-sftp: proxy: /org/${org}/gvc/${gvc}/workload/sftp-proxy`);
    expect(said).toContain(`${gvc}-sftp: the workload is left as it is.`);
    const made = { method: "POST", path: `/org/${org}/gvc/${gvc}/workload` };
    expect(documents.it.recorder.matching(made).map(({ status }) => status)).toEqual([201]);
    expect(documents.get("workload", "sftp-proxy", gvc)).toBeUndefined();
    expect(documents.get("workload", "sftp", gvc)).toBeDefined();
  }
});

it("no shell block of the docs that could be run was left out", () => {
  expect([...told].map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

it("what the docs say of the pulumi command it can do", async () => {
  const commands = [
    ...allBlocks("sh").flatMap(({ code }) => commandsIn(code)),
    ...pages.flatMap(spokenCommands),
  ]
    .filter(({ program }) => program === "pulumi")
    .map(({ args }) => args);
  const groups = ["stack", "config"];
  const asked = new Map<string, Set<string>>();
  for (const [name = "", next = "", ...rest] of commands) {
    const words = groups.includes(name) ? [name, next] : [name];
    const flags = [next, ...rest]
      .filter((word) => word.startsWith("-"))
      .map((word) => word.replace(/=.*/, ""));
    const known = asked.get(words.join(" ")) ?? new Set();
    for (const flag of flags) known.add(flag);
    asked.set(words.join(" "), known);
  }
  expect([...asked.keys()]).toEqual(expect.arrayContaining(["up", "preview", "config set", "stack init"]));
  for (const [words, flags] of asked) {
    const help = await run(session.cli, [...words.split(" "), "--help"], session.dir);
    // By its name or an alias.
    expect(help, words).toMatch(
      new RegExp(`^(Usage:\\s+pulumi|Aliases:\\s).*\\b${words.split(" ").at(-1)}\\b`, "m"),
    );
    for (const flag of flags) expect(help, words).toMatch(new RegExp(`\\s${flag}\\b`));
  }
});
