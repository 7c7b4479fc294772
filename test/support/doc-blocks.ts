/** The pages that readers follow, and the code in them. The design notes are for those who write it. */
import { readdirSync, readFileSync } from "node:fs";
import { fromRoot } from "../../tools/lib/root.ts";
import { type Command, commandsIn } from "./doc-commands.ts";

export const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(fromRoot("docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
];

export const textOf = (page: string): string => readFileSync(fromRoot(page), "utf8");

export interface Block {
  page: string;
  /** Where it begins. */
  line: number;
  language: string;
  code: string;
}

export function blocksOf(page: string, language?: string): Block[] {
  const text = textOf(page);
  const found = [...text.matchAll(/^( *)(```+|~~~+)([^\n]*)\n(.*?)^\1\2$/gms)].map((match) => ({
    page,
    line: text.slice(0, match.index).split("\n").length,
    language: match[3]?.trim() ?? "",
    code: match[4] ?? "",
  }));
  return language === undefined ? found : found.filter((block) => block.language === language);
}

export const allBlocks = (language?: string): Block[] => pages.flatMap((page) => blocksOf(page, language));

/** Programs that a code span names together with what they are to do. */
const PROGRAMS = ["npm", "npx", "node", "pulumi", "cpln", "docker", "buildah", "skopeo", "cosign", "go"];

/** Commands in the text, as code spans. */
export function spokenCommands(page: string): Command[] {
  const prose = textOf(page).replace(/^( *)(```+)[^\n]*\n.*?^\1\2$/gms, "");
  return [...prose.matchAll(/`([^`\n]+)`/g)]
    .map(([, text = ""]) => text)
    .filter((text) => PROGRAMS.some((program) => text.startsWith(`${program} `)))
    .flatMap(commandsIn);
}

/**
 * The shell blocks that a test runs as they stand: those with a command that is none of this checkout's npm scripts and
 * that no service of others is needed for. Left out are the npm scripts, which have run before any test, and
 * placeholders (`…`), which a test's own environment fills.
 */
export function runnableBlocks(): Block[] {
  return allBlocks("sh")
    .filter(({ code }) => commandsIn(code).some(({ program }) => program === "pulumi" || program === "node"))
    .map((block) => ({
      ...block,
      code: block.code
        .split("\n")
        .filter((line) => !/^npm run |^export .*=…/.test(line))
        .join("\n"),
    }));
}
