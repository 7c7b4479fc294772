import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deferred } from "../platform/deferred.ts";
import type { ContainerContext, ContainerExit, Execution, Image, RunningContainer } from "./catalogue.ts";
import { limitMemory } from "./memory-limit.ts";

export interface ProcessSpec {
  /** The program of the image and its first arguments, as an ENTRYPOINT has them. */
  command: string[];
  /** What the document's `args` replace, as a CMD has them. */
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  /** Turns a command of the document (`command`, preStop, probes) into one for this machine. */
  translate?: (command: string[]) => string[];
  /** Runs before the process, for files that it needs. */
  prepare?: () => Promise<void>;
}

export interface ProcessImageOptions {
  description: string;
  matches(image: string): boolean;
  bootMs?: number;
  hasShell?: boolean;
  spec: ProcessSpec | ((context: ContainerContext) => ProcessSpec | Promise<ProcessSpec>);
}

/** The Node that the project pins, else the one that runs this. */
export function pinnedNode(): string {
  const pinned = fileURLToPath(new URL("../../../node_modules/node/bin/node", import.meta.url));
  return existsSync(pinned) ? pinned : process.execPath;
}

export function processImage(options: ProcessImageOptions): Image {
  return {
    description: options.description,
    matches: options.matches,
    hasShell: options.hasShell ?? true,
    ...(options.bootMs === undefined ? {} : { bootMs: options.bootMs }),
    start: async (context) => {
      const spec = typeof options.spec === "function" ? await options.spec(context) : options.spec;
      await spec.prepare?.();
      return startProcess(context, spec);
    },
  };
}

function startProcess(context: ContainerContext, spec: ProcessSpec): RunningContainer {
  const translate = spec.translate ?? ((command: string[]) => command);
  const ownArgs = context.args.length > 0 ? context.args : (spec.args ?? []);
  const entry =
    context.command === undefined
      ? [...spec.command, ...ownArgs]
      : translate([context.command, ...context.args]);
  const env = { ...baseEnvironment(), ...spec.env, ...context.env, SIMULATOR_LEASH: "3" };
  const cwd = spec.cwd ?? context.scratch;
  const running = new Set<ChildProcess>();

  const run = (command: string[]): { child: ChildProcess; ended: Promise<ContainerExit> } => {
    const [program = "false", ...rest] = command;
    // A group of its own, so that what it starts ends with it; the fourth descriptor is the leash (preload.cjs).
    const child = spawn(program, rest, {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    running.add(child);
    const ended = deferred<ContainerExit>();
    const finish = (exit: ContainerExit) => {
      killGroup(child);
      running.delete(child);
      void groupGone(child).then(() => ended.resolve(exit));
    };
    child.once("error", (error) => {
      context.log("stderr", String(error));
      if (child.pid === undefined) finish({ exitCode: 127, reason: "Error" });
    });
    // `close` would wait for grandchildren that hold the pipes; those are killed with the group.
    child.once("exit", (code, signal) => {
      const exitCode = code ?? 128 + (signal === "SIGKILL" ? 9 : signal === "SIGINT" ? 2 : 15);
      finish({ exitCode, reason: exitCode === 0 ? "Completed" : "Error" });
    });
    for (const stream of ["stdout", "stderr"] as const) lines(child, stream, context);
    for (const pipe of child.stdio) pipe?.on("error", () => {});
    return { child, ended: ended.promise };
  };

  const main = run(entry);
  let reason: string | undefined;
  const kill = async (why?: string): Promise<void> => {
    reason ??= why;
    for (const child of running) killGroup(child);
    await main.ended;
  };
  const limit = limitMemory(main.child.pid, context.memoryBytes, () => void kill("OOMKilled"));
  const exited = main.ended.then((exit) => {
    limit.release();
    for (const child of running) killGroup(child);
    return reason === undefined ? exit : { ...exit, reason };
  });
  return {
    ...(main.child.pid === undefined ? {} : { pid: main.child.pid }),
    exited,
    exec: (command): Execution => {
      const execution = run(translate(command));
      return {
        exitCode: execution.ended.then((exit) => exit.exitCode),
        kill: () => killGroup(execution.child),
      };
    },
    signal: (name) => {
      if (main.child.pid !== undefined && running.has(main.child)) main.child.kill(name);
    },
    kill,
  };
}

/** Only what programs need to run at all: a container does not see the machine's environment. */
function baseEnvironment(): Record<string, string> {
  const kept = ["PATH", "LANG", "TZ", "TMPDIR", "SYSTEMROOT"];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group is gone.
  }
}

const groupLooks = 40;
const groupLookMs = 5;

/**
 * What a process had started dies a moment after it: the kernel tells nobody when, so this looks. Not for ever, since
 * a dead process that its new parent never collects still counts.
 */
async function groupGone(child: ChildProcess): Promise<void> {
  for (let look = 0; look < groupLooks && child.pid !== undefined; look += 1) {
    try {
      process.kill(-child.pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, groupLookMs));
  }
}

function lines(child: ChildProcess, stream: "stdout" | "stderr", context: ContainerContext): void {
  let rest = "";
  const readable = child[stream];
  readable?.setEncoding("utf8");
  readable?.on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) context.log(stream, part);
  });
  readable?.on("end", () => {
    if (rest !== "") context.log(stream, rest);
  });
}
