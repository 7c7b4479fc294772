import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** CPU seconds that the threads of these processes have used so far. */
export async function cpuSeconds(pids: readonly number[]): Promise<number> {
  let nanoseconds = 0;
  for (const pid of pids) {
    for (const task of await readdir(`/proc/${pid}/task`)) {
      const stat = await readFile(`/proc/${pid}/task/${task}/schedstat`, "utf8").catch(() => "0");
      nanoseconds += Number(stat.split(" ")[0]);
    }
  }
  return nanoseconds / 1e9;
}

/** Whether somebody listens on this port, as the kernel has it: finding out costs the listener nothing. */
export async function listened(port: number): Promise<boolean> {
  const LISTEN = "0A";
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  return tables.some((table) =>
    table.split("\n").some((line) => {
      const [, local, , state] = line.trim().split(/\s+/);
      return state === LISTEN && local?.endsWith(suffix);
    }),
  );
}

/** KiB that belong to these processes alone. */
export async function anonymousKiB(pids: readonly number[]): Promise<number> {
  let sum = 0;
  for (const pid of pids)
    sum += Number(/^RssAnon:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  return sum;
}

/** A process and all that it has started. */
export async function family(pid: number): Promise<number[]> {
  const file = `/proc/${pid}/task/${pid}/children`;
  const children = (await readFile(file, "utf8").catch(() => "")).trim().split(" ").filter(Boolean);
  const families = await Promise.all(children.map((child) => family(Number(child))));
  return [pid, ...families.flat()];
}

type Controller = "memory" | "cpu";

let made = 0;

/** One limit for the processes that are put under it. Both editions of the kernel's control groups. */
export class Limit {
  readonly #folder: string;
  readonly #controller: Controller;
  readonly #unified: boolean;

  private constructor(folder: string, controller: Controller, unified: boolean) {
    this.#folder = folder;
    this.#controller = controller;
    this.#unified = unified;
  }

  /** Undefined where this process may not make one. */
  static async make(controller: Controller, files: Record<"v1" | "v2", Record<string, string>>) {
    const name = `bench-${process.pid}-${made++}`;
    for (const edition of ["v1", "v2"] as const) {
      const unified = edition === "v2";
      const folder = unified ? `/sys/fs/cgroup/${name}` : `/sys/fs/cgroup/${controller}/${name}`;
      try {
        await mkdir(folder);
        for (const [file, value] of Object.entries(files[edition]))
          await writeFile(`${folder}/${file}`, value);
        return new Limit(folder, controller, unified);
      } catch {
        await rmdir(folder).catch(() => {});
      }
    }
    return undefined;
  }

  static memory(bytes: number): Promise<Limit | undefined> {
    return Limit.make("memory", {
      v1: { "memory.limit_in_bytes": `${bytes}` },
      v2: { "memory.max": `${bytes}` },
    });
  }

  /** A tenth of a core, as the platform gives it. */
  static tenthOfCore(): Promise<Limit | undefined> {
    return Limit.make("cpu", {
      v1: { "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "10000" },
      v2: { "cpu.max": "10000 100000" },
    });
  }

  /** Where a shell that is to become the process puts itself. */
  get entry(): string {
    return `${this.#folder}/cgroup.procs`;
  }

  async peakMiB(): Promise<number> {
    const file = this.#unified ? "memory.peak" : "memory.max_usage_in_bytes";
    return Number(await readFile(`${this.#folder}/${file}`, "utf8").catch(() => "NaN")) / 2 ** 20;
  }

  async remove(): Promise<void> {
    for (let attempt = 0; attempt < 50; attempt++) {
      if (
        await rmdir(this.#folder).then(
          () => true,
          () => false,
        )
      )
        return;
      await setTimeout(100);
    }
    throw new Error(`the ${this.#controller} group is still in use`);
  }
}
