/** Commands that the docs name: what each has to be, as far as that can be told without running it. */
import { existsSync, readFileSync } from "node:fs";
import { fromRoot } from "../../tools/lib/root.ts";

export interface Command {
  text: string;
  program: string;
  args: string[];
}

/** The simple commands of a script, without the variables set before them. */
export function commandsIn(script: string): Command[] {
  return script
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, ""))
    .flatMap((line) => line.split(/\s(?:&&|\|\|?|;)\s/))
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((text) => {
      const words = (text.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? []).map((word) =>
        word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"),
      );
      const [program = "", ...args] = words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word)));
      return { text, program, args };
    });
}

/** Subcommands and flags of programs that no test can run here, from their own help and public sources. */
const ELSEWHERE: Record<string, Record<string, string[]>> = {
  cpln: {
    apply: ["-f", "--file", "--ready", "--gvc", "--org"],
    "workload get": ["--gvc", "--org", "-o"],
    "workload start": ["--gvc", "--org"],
    "workload stop": ["--gvc", "--org"],
    "workload delete": ["--gvc", "--org"],
    "workload get-deployments": ["--gvc", "--org"],
    "workload eventlog": ["--gvc", "--org"],
    "workload force-redeployment": ["--gvc", "--org"],
    "workload tag": ["--tag", "--remove-tag", "--gvc", "--org"],
    "policy get": ["--org"],
    "identity create": ["--name", "--gvc", "--org"],
  },
  docker: { build: ["-f", "--build-arg", "--target", "--output"] },
  buildah: { pull: [] },
  skopeo: { copy: [] },
  go: { get: ["-tool"] },
};

const isFlag = (word: string): boolean => word.startsWith("-");

/** What is wrong with a command; undefined where nothing is. One that belongs to no class is wrong. */
export function complaint({ program, args }: Command): string | undefined {
  switch (program) {
    case "npm":
      return npm(args);
    case "npx":
      return args[0] === "vitest" ? vitest(args.slice(1)) : `npx ${args[0]} has no class`;
    case "node":
      return node(args);
    case "pulumi":
      // The engine itself is asked for its flags, under test/e2e.
      return args.length === 0 ? "says not what to do" : undefined;
    case "export":
      return args.every((each) => /^[A-Z_]+=/.test(each)) ? undefined : "exports what is no variable";
    default:
      return elsewhere(program, args);
  }
}

function npm([task = "", ...args]: string[]): string | undefined {
  // npm's own, which test/e2e/app.test.ts runs.
  if (task === "ci" && args.length === 0) return undefined;
  const name = task === "run" ? (args.shift() ?? "") : task;
  const { scripts } = JSON.parse(readFileSync(fromRoot("package.json"), "utf8"));
  if (!(name in scripts)) return `there is no npm script ${name}`;
  return name === "test" ? vitest(args.filter((each) => each !== "--")) : undefined;
}

function vitest(args: string[]): string | undefined {
  const words = args.filter((word, index) => word !== "run" && args[index - 1] !== "--project");
  const projects = args.filter((_, index) => args[index - 1] === "--project");
  const unknown = [
    ...projects.map((name) => `test/${name}`),
    ...words.filter((word) => !isFlag(word)),
  ].filter((path) => !existsSync(fromRoot(path)));
  return unknown.length === 0 ? undefined : `there is no ${unknown.join(", ")}`;
}

function node(args: string[]): string | undefined {
  const file = args.find((each) => !isFlag(each)) ?? "";
  // In the image, where test/e2e/image.test.ts runs it.
  if (file === "/app/main.js") return undefined;
  return existsSync(fromRoot(file)) ? undefined : `there is no ${file}`;
}

function elsewhere(program: string, args: string[]): string | undefined {
  const known = Object.entries(ELSEWHERE[program] ?? {}).find(([words]) =>
    words.split(" ").every((word, index) => args[index] === word),
  );
  if (known === undefined) return `${program} ${args.slice(0, 2).join(" ")} has no class`;
  const flag = args.find((each) => isFlag(each) && !known[1].includes(each));
  if (flag !== undefined) return `${program} ${known[0]} is not known to have ${flag}`;
  return program === "docker" ? dockerBuild(args) : undefined;
}

/** What it names of the Dockerfile has to be there. */
function dockerBuild(args: string[]): string | undefined {
  const after = (flag: string) => args.filter((_, index) => args[index - 1] === flag);
  const [file = "proxy-image/Dockerfile"] = after("-f");
  if (!existsSync(fromRoot(file))) return `there is no ${file}`;
  const text = readFileSync(fromRoot(file), "utf8");
  const missing = [
    ...after("--build-arg").map((each) => `ARG ${each.split("=")[0]}`),
    ...after("--target").map((each) => `AS ${each}`),
  ].filter((words) => !new RegExp(`\\b${words}\\b`).test(text));
  return missing.length === 0 ? undefined : `${file} has no ${missing.join(", ")}`;
}
