/**
 * No code in the docs goes unchecked: each fenced block has a class, by its language, and each class its test. Shell
 * blocks that can be run here are run as they stand by test/e2e/examples.test.ts.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import ts from "typescript";
import { beforeAll, describe, expect, it, test } from "vitest";
import { fromRoot } from "../../tools/lib/root.ts";
import { allBlocks, type Block, blocksOf, pages, spokenCommands, textOf } from "../support/doc-blocks.ts";
import { commandsIn, complaint } from "../support/doc-commands.ts";

// The parser that Pulumi's SDK brings.
const yaml: { load(text: string): unknown } = createRequire(
  createRequire(import.meta.url).resolve("@pulumi/pulumi"),
)("js-yaml");

const named = (blocks: Block[]) => blocks.map((block) => [`${block.page}:${block.line}`, block] as const);

describe.each(pages)("%s", (page) => {
  it("has blocks of a class alone, each closed", () => {
    const fences = textOf(page).match(/^ *(```|~~~)/gm) ?? [];
    const blocks = blocksOf(page);
    expect(fences.length).toBe(blocks.length * 2);
    const classes = ["ts", "sh", "yaml", "text", "mermaid"];
    expect(blocks.filter(({ language }) => !classes.includes(language))).toEqual([]);
  });

  it("links to files that there are", () => {
    const links = [...textOf(page).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(
      ([, link = ""]) => link,
    );
    expect(links.filter((link) => !existsSync(join(fromRoot(page), "..", link)))).toEqual([]);
  });

  it("names commands that there are", () => {
    const said = spokenCommands(page).map((command) => [command.text, complaint(command)]);
    expect(said.filter(([, wrong]) => wrong !== undefined)).toEqual([]);
  });
});

describe("a program", () => {
  const programs = allBlocks("ts").map((block) => ({
    block,
    file: fromRoot("examples", `${block.page.replaceAll("/", "-")}-${block.line}.ts`),
  }));
  let complaints: (file: string) => string[];

  beforeAll(() => {
    complaints = compile(new Map(programs.map(({ file, block }) => [file, block.code])));
  }, 120_000);

  it.each(programs.map(({ block, file }) => [`${block.page}:${block.line}`, file]))(
    "%s compiles",
    (_, file) => {
      expect(complaints(file ?? "")).toEqual([]);
    },
  );
});

/** Checks texts as if they were files of the checkout, with the checkout's own options. */
function compile(files: ReadonlyMap<string, string>): (file: string) => string[] {
  const read = ts.readConfigFile(fromRoot("tsconfig.json"), ts.sys.readFile);
  const options = { ...ts.parseJsonConfigFileContent(read.config, ts.sys, fromRoot()).options, noEmit: true };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.fileExists = (name) => files.has(name) || fileExists(name);
  const program = ts.createProgram([...files.keys()], options, host);
  return (file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

describe("a shell block", () => {
  it.each(named(allBlocks("sh")))("%s parses, and each of its commands has a class", (_, { code }) => {
    expect(spawnSync("bash", ["-n"], { input: code, encoding: "utf8" }).stderr).toBe("");
    const commands = commandsIn(code);
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.flatMap((command) => complaint(command) ?? [])).toEqual([]);
  });

  it.each([
    ["make all", "make all has no class"],
    ["npx cowsay hello", "npx cowsay has no class"],
    ["npm run nothing", "there is no npm script nothing"],
    ["npm test -- test/unit/nothing.test.ts", "there is no test/unit/nothing.test.ts"],
    ["npx vitest run --project nothing", "there is no test/nothing"],
    ["A=1 node examples/nothing.mts", "there is no examples/nothing.mts"],
    ["cpln workload pause sftp", "cpln workload pause has no class"],
    ["cpln workload start sftp --now", "cpln workload start is not known to have --now"],
    [
      "docker build -f proxy-image/Dockerfile --build-arg NOTHING=1 .",
      "proxy-image/Dockerfile has no ARG NOTHING",
    ],
    ["docker build \\\n  --target nothing .", "proxy-image/Dockerfile has no AS nothing"],
  ])("such as `%s` would be found wrong", (script, reason) => {
    expect(commandsIn(script).map(complaint)).toEqual([reason]);
  });
});

/** A file that a YAML block is a part of, by the block's first line, and one whose every update is a test. */
const PARTS: Record<string, string> = { "# Pulumi.yaml": "examples/sftp/Pulumi.yaml" };

test.each(named(allBlocks("yaml")))("the YAML of %s is part of a file that is used", (_, { code }) => {
  const file = PARTS[code.split("\n")[0] ?? ""];
  expect(file, "which file is it a part of?").toBeDefined();
  expect(yaml.load(readFileSync(fromRoot(file ?? ""), "utf8"))).toMatchObject(yaml.load(code) as object);
});

test.each(named(allBlocks("mermaid")))("the diagram of %s is generated", (_, { page, line }) => {
  const before = textOf(page).split("\n").slice(0, line).join("\n");
  expect(before.lastIndexOf("<!-- generated: ")).toBeGreaterThan(before.lastIndexOf("<!-- end -->"));
});

/** Text blocks are held to what they quote: where, and how many a page has. */
const TEXTS: Record<string, { count: number; heldBy: string }> = {
  "docs/costs.md": { count: 2, heldBy: "test/contract/examples-in-docs.test.ts" },
  "docs/permissions.md": { count: 1, heldBy: "test/e2e/permissions.test.ts" },
};

test("text blocks are held by a test", () => {
  for (const page of pages) {
    const held = TEXTS[page];
    expect(blocksOf(page, "text").length, page).toBe(held?.count ?? 0);
    if (held) expect(readFileSync(fromRoot(held.heldBy), "utf8")).toContain(page);
  }
});

test("docs/costs.md: it pays below the share that the second formula gives", () => {
  const [saved = "", below = ""] = blocksOf("docs/costs.md", "text").map(({ code }) =>
    code
      .replace(/^.*?[=<]/, "")
      .replaceAll("×", "*")
      .replaceAll("load balancer", "balancer"),
  );
  const rate = fc.double({ min: 0.01, max: 100, noNaN: true });
  fc.assert(
    fc.property(
      rate,
      rate,
      rate,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (target, proxy, balancer, a) => {
        const rates = { target, proxy, balancer, a };
        const margin = Number(runInNewContext(below, rates)) - a;
        fc.pre(Math.abs(margin) > 1e-9);
        expect(Number(runInNewContext(saved, rates)) > 0).toBe(margin > 0);
      },
    ),
    { numRuns: 50 },
  );
});

test("the packages that programs import are those that a reader installs", () => {
  const imported = allBlocks("ts").flatMap(({ code }) =>
    [...code.matchAll(/from "([^"]+)"/g)].map(([, name]) => name),
  );
  expect([...new Set(imported)].sort()).toEqual([
    "@pulumi/pulumi",
    "@pulumiverse/cpln",
    "cpln-scale-to-zero",
  ]);
});

test("the README leads to every example", () => {
  for (const name of readdirSync(fromRoot("examples")))
    expect(textOf("README.md")).toContain(`(examples/${name}/`);
});
