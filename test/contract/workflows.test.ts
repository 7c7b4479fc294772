/** The workflow files: linted, pinned, and their shell steps run where that needs no service of others. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pinnedNode } from "../../simulator/src/images/process-image.ts";
import { defaultImage } from "../../src/index.ts";
import { fromRoot, root } from "../../tools/lib/root.ts";
import { ensureActionlint, lintWorkflows } from "../../tools/workflows/actionlint.ts";

const run = promisify(execFile);

interface Step {
  name?: string;
  uses?: string;
  run?: string;
}
interface ImageStep extends Step {
  with?: Record<string, string>;
}
interface Workflow {
  permissions: Record<string, string>;
  env?: Record<string, string>;
  jobs: Record<string, { steps: Step[]; "timeout-minutes"?: number; permissions?: Record<string, string> }>;
}

// The parser that Pulumi's SDK brings.
const yaml: { load(text: string): unknown } = createRequire(
  createRequire(import.meta.url).resolve("@pulumi/pulumi"),
)("js-yaml");

const folder = fromRoot(".github", "workflows");
const names = ["ci.yml", "release.yml"];
// Beside those of this repository, one for readers to copy.
const example = fromRoot("examples", "ci", "pulumi.yml");
const text = (name: string) => readFile(join(folder, name), "utf8");
const workflow = async (name: string) => yaml.load(await text(name)) as Workflow;
const steps = ({ jobs }: Workflow) => Object.values(jobs).flatMap((job) => job.steps);
const scripts = (flow: Workflow) => steps(flow).flatMap((step) => (step.run === undefined ? [] : [step.run]));

it("are these, and no others", async () => {
  expect((await readdir(folder)).sort()).toEqual(names);
});

it("have nothing that the linter for workflow files finds", async ({ skip }) => {
  const linter = await ensureActionlint().catch((error: Error) => {
    if (process.env.REQUIRE_REAL_PEERS === "1") throw error;
    return skip(`no actionlint: ${error.message}`);
  });
  expect(await lintWorkflows(linter)).toBe("");
  expect(await lintWorkflows(linter, [example])).toBe("");
}, 120_000);

describe.each(names)("%s", (name) => {
  it("names every action by commit, with the version beside it", async () => {
    const uses = (await text(name)).split("\n").filter((line) => /\buses:/.test(line));
    expect(uses.length).toBeGreaterThan(0);
    for (const line of uses) {
      expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it("names every container by digest", async () => {
    const images = (await text(name)).split("\n").filter((line) => /^ +image: /.test(line));
    expect(images.length).toBeGreaterThan(0);
    for (const line of images) expect(line).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  it("may read, and more only in the job that needs it; every job has an end", async () => {
    const flow = await workflow(name);
    expect(flow.permissions).toEqual({ contents: "read" });
    for (const job of Object.values(flow.jobs)) expect(job["timeout-minutes"]).toBeGreaterThan(0);
  });

  it("runs what there is: npm scripts, tools, this Node", async () => {
    const flow = await workflow(name);
    const manifest = JSON.parse(await readFile(fromRoot("package.json"), "utf8"));
    for (const script of scripts(flow)) {
      for (const [, task = ""] of script.matchAll(/npm run (?!--)(\S+)/g)) {
        expect(manifest.scripts).toHaveProperty([task]);
      }
      for (const [, file = ""] of script.matchAll(/\bnode (tools\/\S+)/g)) {
        expect(existsSync(fromRoot(file)), file).toBe(true);
      }
    }
    const versions = [...(await text(name)).matchAll(/node-version: (\S+)/g)].map(([, version]) => version);
    for (const version of versions) expect(version).toBe(manifest.devDependencies.node);
  });
});

it("a release attaches the plane that is in its image: the same stage of the same file, and no other compile", async () => {
  const flow = yaml.load(await text("release.yml")) as { jobs: Record<string, { steps: ImageStep[] }> };
  const builds = (flow.jobs.image?.steps ?? []).filter(({ uses }) => uses?.startsWith("docker/build-push"));
  expect(builds.map((step) => step.with?.target)).toEqual([undefined, "plane"]);
  expect(new Set(builds.map((step) => `${step.with?.file} ${step.with?.platforms}`)).size).toBe(1);
  expect(await readFile(fromRoot("proxy-image", "Dockerfile"), "utf8")).toMatch(
    /^FROM scratch AS plane\nCOPY --from=compile \/splice\.node \/$/m,
  );
  expect(scripts(await workflow("release.yml")).join("\n")).not.toContain("build:native");
});

it("the example for readers pins what it uses, and this repository's pins where both use it", async () => {
  const used = async (file: string) =>
    (await readFile(file, "utf8")).split("\n").flatMap((line) => /\buses: (.*)/.exec(line)?.[1] ?? []);
  const own = (await Promise.all(names.map((name) => used(join(folder, name))))).flat();
  const actions = new Set(own.map((action) => action.replace(/@.*/, "")));
  for (const action of await used(example)) {
    expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    if (actions.has(action.replace(/@.*/, ""))) expect(own).toContain(action);
  }
});

it("the checks of a pull request are those of this machine, and its bench", async () => {
  const all = scripts(await workflow("ci.yml")).join("\n");
  expect(all).toContain("npm run check");
  expect(all).toContain("bash .ci/run");
  expect(all).toContain("bench -- --quick");
});

describe("the shell steps of a release", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "cpln-workflow-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  /** Commands of services that are not here: each writes its arguments down, and prints what it is told to. */
  async function stub(command: string, prints = ""): Promise<void> {
    const bin = join(dir, "bin");
    await mkdir(bin, { recursive: true });
    const file = join(bin, command);
    await writeFile(file, `#!/bin/sh\necho "${command} $*" >>"$STUB_LOG"\nprintf '%s' '${prints}'\n`);
    await chmod(file, 0o755);
  }

  /** As the runner does: bash, ending at the first failure. Answers what the step has given to later ones. */
  async function runStep(name: string, env: Record<string, string> = {}, cwd = dir) {
    const flow = await workflow("release.yml");
    const step = steps(flow).find((each) => each.name === name);
    if (step?.run === undefined) throw new Error(`there is no step "${name}"`);
    const [output, log] = [join(dir, "output"), join(dir, "stubs")];
    await Promise.all([writeFile(output, ""), writeFile(log, "")]);
    await run("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], {
      cwd,
      env: {
        ...flow.env,
        PATH: [join(dir, "bin"), join(pinnedNode(), ".."), process.env.PATH].join(":"),
        GITHUB_REF_NAME: "v1.2.3",
        GITHUB_OUTPUT: output,
        STUB_LOG: log,
        ...env,
      },
    });
    return { output: await readFile(output, "utf8"), calls: await readFile(log, "utf8") };
  }

  it("take time and version from the tagged commit", async () => {
    const { output } = await runStep("Times and version of the commit", {}, root);
    expect(output).toMatch(/^epoch=\d{10}\nversion=1\.2\.3\n$/);
  });

  it("run each architecture's image as the platform would, and load the plane in it", async () => {
    await stub("docker");
    const built = "ghcr.io/someone/image@sha256:0";
    const { calls } = await runStep("Run what was pushed, as it is, and its plane", { BUILT: built });
    const run = "docker run --rm --read-only --cap-drop=ALL --security-opt=no-new-privileges";
    expect(calls).toBe(
      `${run} ${built} --version --verbose\n` +
        `${run} --entrypoint node ${built} -e require("/app/splice.node").SplicePlane.name\n`,
    );
    // The same as what a pull request runs.
    const named = (flow: Workflow, part: string) =>
      steps(flow).find(({ name }) => name?.endsWith(part))?.run ?? "";
    const last = named(await workflow("ci.yml"), "its plane");
    expect(last).toBe(named(await workflow("release.yml"), "its plane"));
  });

  it("make one index of both architectures' digests, and sign what it then is", async () => {
    const [one, other, index] = ["a", "b", "c"].map((letter) => letter.repeat(64));
    for (const digest of [one, other]) {
      await runStep("Keep the digest for the index", { DIGEST: `sha256:${digest}` });
    }
    await stub("docker", `sha256:${index}`);
    await stub("cosign");
    const image = "ghcr.io/controlplane-com/scale-to-zero-proxy";
    const made = await runStep("One name for both architectures");
    expect(made.calls.split("\n")[0]).toBe(
      `docker buildx imagetools create --tag ${image}:1.2.3 ${image}@sha256:${one} ${image}@sha256:${other}`,
    );
    expect(made.output).toBe(`digest=sha256:${index}\n`);
    const signed = await runStep("Sign", { DIGEST: `sha256:${index}` });
    expect(signed.calls).toBe(`cosign sign --yes --recursive ${image}@sha256:${index}\n`);
  });

  it("name the repository in the package, which its provenance is held against", async () => {
    await writeFile(join(dir, "package.json"), await readFile(fromRoot("package.json"), "utf8"));
    const env = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "someone/some-repository" };
    await runStep("Name the repository", env);
    const { repository } = JSON.parse(await readFile(join(dir, "package.json"), "utf8"));
    const url = "git+https://github.com/someone/some-repository.git";
    expect(repository).toEqual({ type: "git", url });
  });

  it("publish what the changelog says and what to pin, with the prebuilds", async () => {
    await stub("node", "what is new\n");
    await stub("gh");
    await mkdir(join(dir, "prebuilds"));
    for (const name of ["one.node", "other.node"]) await writeFile(join(dir, "prebuilds", name), name);
    const digest = `sha256:${"d".repeat(64)}`;
    const { calls } = await runStep("Publish the release", { DIGEST: digest });
    expect(await readFile(join(dir, "notes.md"), "utf8")).toBe(
      `what is new\n\n### Image\n\n    ${defaultImage.split(":")[0]}:1.2.3@${digest}\n`,
    );
    expect(calls.split("\n")).toEqual([
      "node tools/release/notes.ts v1.2.3",
      "gh release create v1.2.3 --verify-tag --title v1.2.3 --notes-file notes.md prebuilds/one.node prebuilds/other.node",
      "",
    ]);
  });

  it("name prebuilds by platform", async () => {
    for (const arch of ["amd64", "arm64"]) {
      await mkdir(join(dir, "planes", `plane-${arch}`), { recursive: true });
      await writeFile(join(dir, "planes", `plane-${arch}`, "splice.node"), arch);
    }
    await runStep("Prebuilds by their architecture");
    expect((await readdir(join(dir, "prebuilds"))).sort()).toEqual([
      "splice-linux-amd64-glibc.node",
      "splice-linux-arm64-glibc.node",
    ]);
    expect(await readFile(join(dir, "prebuilds", "splice-linux-arm64-glibc.node"), "utf8")).toBe("arm64");
  });
});

describe("what a release asks first", () => {
  const node = (...args: string[]) => run(pinnedNode(), args, { cwd: root });

  it("is that the tag has the version of everything", async () => {
    const { version } = JSON.parse(await readFile(fromRoot("package.json"), "utf8"));
    await node("tools/release/check-tag.ts", `v${version}`);
    await expect(node("tools/release/check-tag.ts", "v99.0.0")).rejects.toThrow(/package\.json has/);
    await expect(node("tools/release/check-tag.ts")).rejects.toThrow(/tag is missing/);
  });

  it("is that the changelog has an entry, which becomes the release's text", async () => {
    const dir = await mkdtemp(join(tmpdir(), "cpln-notes-"));
    try {
      const file = join(dir, "CHANGELOG.md");
      const entries = [
        "# Changelog",
        "## [Unreleased]",
        "## [1.2.3] - 2026-01-01",
        "### Added",
        "- It.",
        "## [1.2.2]",
      ];
      await writeFile(file, entries.join("\n\n"));
      expect((await node("tools/release/notes.ts", "v1.2.3", file)).stdout).toBe("### Added\n\n- It.\n");
      await expect(node("tools/release/notes.ts", "v1.2.2", file)).rejects.toThrow(/no entry for 1\.2\.2/);
      await expect(node("tools/release/notes.ts", "v1.2", file)).rejects.toThrow(/no entry/);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
