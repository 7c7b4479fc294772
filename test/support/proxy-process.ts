import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { entry } from "./bundle.ts";
import { testedPlane } from "./planes.ts";

/** The real proxy as a process of its own, started as the image starts it. */
export class ProxyProcess {
  readonly child: ChildProcess;
  readonly lines: Record<string, unknown>[] = [];
  stderr = "";
  /** The exit code, or the signal's name, once all output has been read. */
  readonly ended: Promise<number | string>;
  #wake: (() => void)[] = [];

  constructor(
    variables: Record<string, string>,
    { args = [], descriptors, file = entry }: { args?: string[]; descriptors?: number; file?: string } = {},
  ) {
    const env = { DATA_PLANE: testedPlane, ...variables };
    const command = [process.execPath, file, ...args];
    // Node raises its soft limit to the hard one: both must be low.
    const limited = ["-c", `ulimit -n ${descriptors}; exec "$@"`, "sh", ...command];
    this.child =
      descriptors === undefined
        ? spawn(command[0] ?? "", command.slice(1), { env })
        : spawn("/bin/sh", limited, { env });
    this.ended = once(this.child, "close").then(([code, signal]) => code ?? signal);
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    if (this.child.stdout) {
      createInterface({ input: this.child.stdout }).on("line", (line) => {
        this.lines.push(line.startsWith("{") ? JSON.parse(line) : { text: line });
        for (const wake of this.#wake.splice(0)) wake();
      });
    }
    void this.ended.then(() => {
      for (const wake of this.#wake.splice(0)) wake();
    });
  }

  /** The first line of this event; rejects when the process ends without it. */
  async logged(event: string): Promise<Record<string, unknown>> {
    for (;;) {
      const line = this.lines.find((one) => one.event === event);
      if (line) return line;
      if (this.child.exitCode !== null) throw new Error(`ended without ${event}: ${this.stderr}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async stop(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}
