import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import { fromRoot } from "../../tools/lib/root.ts";

/**
 * Holds one generated section of a page to the code it is made from. Sections stand between
 * `<!-- generated: NAME -->` and `<!-- end -->`; with UPDATE_DOCS set (`npm run docs`) they are rewritten instead.
 */
export function expectGenerated(page: string, section: string, content: string): void {
  const file = fromRoot("docs", page);
  const text = readFileSync(file, "utf8");
  const open = `<!-- generated: ${section} -->`;
  const start = text.indexOf(open);
  const end = text.indexOf("<!-- end -->", start);
  if (start < 0 || end < 0) throw new Error(`docs/${page} has no section ${open} … <!-- end -->`);
  const found = text.slice(start + open.length, end).trim();
  if (process.env.UPDATE_DOCS) {
    writeFileSync(file, `${text.slice(0, start + open.length)}\n\n${content}\n\n${text.slice(end)}`);
    return;
  }
  expect(found, `docs/${page}, section ${section}: out of date, run \`npm run docs\``).toBe(content);
}

/** A Markdown table. Bars in cells are escaped. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
