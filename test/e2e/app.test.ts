/**
 * The package in an app of somebody else's: the README's program, with the packed package installed from a lockfile,
 * previewed and updated by the steps of examples/ci/pulumi.yml as they stand. The app has the oldest Pulumi SDK that
 * the package takes, and no second one.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
// @ts-expect-error: it brings no types, and is here because the SDK needs it
import yaml from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EngineSession, openEngineSession } from "../../tools/engine/session.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { capture } from "../../tools/lib/run.ts";
import { blocksOf } from "../support/doc-blocks.ts";
import { writeProject } from "../support/engine.ts";
import { packInto } from "../support/pack.ts";
import { useDocuments } from "./component-support.ts";

interface Workflow {
  env: Record<string, string>;
  jobs: Record<string, { steps: { run?: string; uses?: string }[] }>;
}

const documents = useDocuments();
let session: EngineSession;
/** The oldest SDK that the package's peer range takes. */
let oldest: string;
let workflow: Workflow;
let app: string;
/** Why there is no app: this machine can't reach the registry. */
let unreachable: string | undefined;

beforeAll(async () => {
  session = await openEngineSession();
  workflow = yaml.load(await readFile(fromRoot("examples", "ci", "pulumi.yml"), "utf8")) as Workflow;
  app = join(session.dir, "app");
  await mkdir(app);
  const { component, sdk } = await packInto(session.dir);
  const { devDependencies, peerDependencies } = JSON.parse(await readFile(fromRoot("package.json"), "utf8"));
  oldest = peerDependencies["@pulumi/pulumi"].replace("^", "");
  const dependencies = {
    "@pulumi/pulumi": oldest,
    "@pulumiverse/cpln": `file:${sdk}`,
    "cpln-scale-to-zero": `file:${component}`,
  };
  const { typescript } = devDependencies;
  const manifest = { name: "shop", private: true, dependencies, devDependencies: { typescript } };
  await writeFile(join(app, "package.json"), JSON.stringify(manifest));
  await writeFile(join(app, "index.ts"), blocksOf("README.md", "ts")[0]?.code ?? "");
  await writeProject(app, {
    name: "shop",
    runtime: "nodejs",
    main: "index.ts",
    options: { refresh: "always" },
  });
  // What its owner has done before the workflow ran for the first time.
  const { stderr } = await shell("npm install --package-lock-only", { strict: false });
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(stderr)) unreachable = stderr;
  await shell('pulumi stack init "$PULUMI_STACK"');
}, 300_000);
afterAll(() => session.dispose());

const quiet = {
  NPM_CONFIG_PREFER_OFFLINE: "true",
  NPM_CONFIG_AUDIT: "false",
  NPM_CONFIG_FUND: "false",
  NPM_CONFIG_LOGLEVEL: "error",
};

/** As the runner does: bash, ending at the first failure, with the workflow's environment. */
async function shell(script: string, { strict = true } = {}) {
  // What the workflow takes from its settings is this machine's.
  const given = Object.entries(workflow.env).filter(([, value]) => !value.includes("${{"));
  const env = { ...session.env, ...documents.env, ...quiet, ...Object.fromEntries(given) };
  const args = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
  const ran = await capture("bash", args, { cwd: app, env });
  if (strict && ran.code !== 0)
    throw new Error(`${script}: exit code ${ran.code}\n${ran.stdout}${ran.stderr}`);
  return ran;
}

let installed = false;

/** All steps of a job that are shell, and what they printed. */
async function job(name: string): Promise<string> {
  let printed = "";
  for (const { run } of workflow.jobs[name]?.steps ?? []) {
    // Each job's first; here all have one folder, and it takes its time.
    if (run === undefined || (run === "npm ci" && installed)) continue;
    printed += (await shell(run)).stdout;
    installed = true;
  }
  return printed;
}

describe("an app that installs the package", () => {
  it("is previewed, updated and left alone by the workflow's own steps", async ({ skip }) => {
    if (unreachable !== undefined && process.env.REQUIRE_REAL_PEERS !== "1") skip("no registry");
    expect(await job("preview")).toMatch(/\+ 7 to create/);
    expect(documents.get("workload", "sftp-proxy", "files")).toBeUndefined();
    expect(await job("up")).toMatch(/^\s*host/m);
    expect(documents.get("workload", "sftp-proxy", "files")).toBeDefined();
    expect(await job("preview")).toMatch(/7 unchanged/);
    const program = await readFile(join(app, "index.ts"), "utf8");
    await writeFile(join(app, "index.ts"), program.replace("allow: [", 'idleHold: "300",\n  allow: ['));
    const { code, stdout } = await shell("pulumi preview --non-interactive", { strict: false });
    expect([code === 0, stdout]).toEqual([false, expect.stringContaining("idleHold: needs a unit")]);
    await shell("pulumi destroy --yes --non-interactive");
  }, 300_000);

  it("has one Pulumi, its own", async ({ skip }) => {
    if (unreachable !== undefined && process.env.REQUIRE_REAL_PEERS !== "1") skip("no registry");
    const at = (from: string) => createRequire(join(app, from)).resolve("@pulumi/pulumi/package.json");
    const own = at("index.js");
    expect(JSON.parse(await readFile(own, "utf8")).version).toBe(oldest);
    for (const name of ["cpln-scale-to-zero", "@pulumiverse/cpln"]) {
      expect(at(`node_modules/${name}/dist/index.js`), name).toBe(own);
    }
  });
});

it("the workflow's other steps are these", () => {
  // What they do on a runner is not tried here: test/contract/workflows.test.ts lints them and looks at their pins.
  for (const { steps } of Object.values(workflow.jobs)) {
    const used = steps.flatMap(({ uses }) => (uses === undefined ? [] : [uses.replace(/@.*/, "")]));
    expect(used).toEqual(["actions/checkout", "actions/setup-node", "pulumi/actions"]);
  }
});
