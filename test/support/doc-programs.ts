/** Runs programs of the docs in this process, as `pulumi up` does: compiled to CommonJS. */
import { createRequire } from "node:module";
import { runInThisContext } from "node:vm";
import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import ts from "typescript";
import * as component from "../../src/index.ts";

const modules: Record<string, unknown> = {
  "@pulumi/pulumi": pulumi,
  "@pulumiverse/cpln": cpln,
  "cpln-scale-to-zero": component,
};

export function runProgram(code: string): void {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const program = runInThisContext(`(exports, require) => {${outputText}\n}`);
  program({}, (name: string) => modules[name] ?? createRequire(import.meta.url)(name));
}
