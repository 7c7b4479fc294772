import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { fromRoot } from "../../tools/lib/root.ts";

const pages = [
  "README.md",
  ...readdirSync(fromRoot("docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
];

/** TypeScript blocks of a page, each a whole program. */
function programs(page: string): string[] {
  const text = readFileSync(fromRoot(page), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = ""]) => code);
}

describe.each(pages.filter((page) => programs(page).length > 0))("%s", (page) => {
  test.each(programs(page).map((code, index) => ({ index: index + 1, code })))(
    "program $index compiles",
    ({ code, index }) => {
      const file = fromRoot("examples", `${page.replaceAll("/", "-")}-${index}.ts`);
      expect(complaints(file, code)).toEqual([]);
    },
  );
});

/** Checks text as if it were a file of the checkout, with the checkout's own options. */
function complaints(file: string, code: string): string[] {
  const read = ts.readConfigFile(fromRoot("tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, fromRoot());
  const host = ts.createCompilerHost({ ...options, noEmit: true });
  const { readFile, fileExists } = host;
  host.readFile = (name) => (name === file ? code : readFile(name));
  host.fileExists = (name) => name === file || fileExists(name);
  const program = ts.createProgram([file], { ...options, noEmit: true }, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

describe.each(pages)("%s", (page) => {
  test("links to files that there are", () => {
    const links = [...readFileSync(fromRoot(page), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)];
    const missing = links
      .map(([, link = ""]) => link)
      .filter((link) => !existsSync(join(fromRoot(page), "..", link)));
    expect(missing).toEqual([]);
  });
});
