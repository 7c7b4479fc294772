import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

export interface Captured {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command and keeps what it prints. Rejects only where it can't be started. */
export function capture(
  command: string,
  args: readonly string[],
  options: RunOptions & { onStderrLine?: (line: string) => void } = {},
): Promise<Captured> {
  const { onStderrLine, ...spawnOptions } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...spawnOptions, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    if (onStderrLine !== undefined) createInterface({ input: child.stderr }).on("line", onStderrLine);
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, stdout, stderr }));
  });
}

/** Runs a command on this process's own output. Its stdin is closed: nothing here ever asks. */
export function passThrough(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
