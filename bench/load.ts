import { spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fromRoot } from "../tools/lib/root.ts";
import { capture } from "../tools/lib/run.ts";

/** The load generator, and a target of it, on the core that no subject has. */
export class Load {
  readonly folder: string;
  readonly #binary: string;
  #stop = () => {};

  private constructor(folder: string) {
    this.folder = folder;
    this.#binary = join(folder, "load");
  }

  static async build(): Promise<Load> {
    const load = new Load(await mkdtemp(join(tmpdir(), "bench-load-")));
    const args = ["--edition", "2024", "-O", "-o", load.#binary, fromRoot("bench", "load.rs")];
    const { code, stderr } = await capture("rustc", args);
    if (code !== 0) throw new Error(`rustc: ${stderr}`);
    return load;
  }

  /** Returns its port. */
  async serve(): Promise<number> {
    const { line, end } = await this.#resident(["serve", "127.0.0.1:0"]);
    this.#stop = end;
    return Number(line);
  }

  stop(): void {
    this.#stop();
  }

  /** The numbers that one run prints. */
  async run(...args: (string | number)[]): Promise<number[]> {
    const { code, stdout, stderr } = await capture("taskset", ["-c", "0", this.#binary, ...args.map(String)]);
    if (code !== 0) throw new Error(`load ${args[0]}: ${stderr}`);
    return stdout.trim().split(" ").map(Number);
  }

  /** Connections that stay open until `end`. */
  async hold(
    address: string,
    count: number,
    kind: "banner" | "mute",
  ): Promise<{ open: number; end: () => void }> {
    const { line, end } = await this.#resident(["hold", address, `${count}`, kind]);
    return { open: Number(line), end };
  }

  async #resident(args: string[]): Promise<{ line: string; end: () => void }> {
    const child = spawn(
      "/bin/sh",
      ["-c", 'ulimit -n $(ulimit -Hn); exec "$@"', "sh", "taskset", "-c", "0", this.#binary, ...args],
      {
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    child.on("error", () => {});
    for await (const line of createInterface({ input: child.stdout }))
      return { line, end: () => void child.stdin.end() };
    throw new Error(`load ${args[0]} said nothing`);
  }
}
