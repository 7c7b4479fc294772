/** What a reader copies from the docs does not only compile: each program is run, up to what it registers. */
import { createRequire } from "node:module";
import { runInThisContext } from "node:vm";
import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import ts from "typescript";
import { expect, it } from "vitest";
import * as component from "../../src/index.ts";
import { allBlocks } from "../support/doc-blocks.ts";
import { startMocks } from "../support/mocks.ts";

const modules: Record<string, unknown> = {
  "@pulumi/pulumi": pulumi,
  "@pulumiverse/cpln": cpln,
  "cpln-scale-to-zero": component,
};

/** As `pulumi up` does: compiled to CommonJS, and run. */
function run(code: string): void {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const program = runInThisContext(`(exports, require) => {${outputText}\n}`);
  program({}, (name: string) => modules[name] ?? createRequire(import.meta.url)(name));
}

it.each(allBlocks("ts").map((block) => [`${block.page}:${block.line}`, block] as const))(
  "%s runs",
  async (_, { code }) => {
    const registered = await startMocks();
    run(code);
    const components = code.match(/new ScaleToZeroTcp\(/g)?.length ?? 0;
    const others = code.match(/new cpln\.\w+\(/g)?.length ?? 0;
    expect(components + others).toBeGreaterThan(0);
    // A component and its three children. Registering goes on after the constructors have returned.
    while (registered.length < components * 4 + others) await new Promise((resolve) => setImmediate(resolve));
  },
);
