import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A container's memory, enforced as far as the machine lets an ordinary program do it: a cgroup (v2, writable)
 * where there is one, which is what the platform does; else, on Linux, a look at the process every half second,
 * which counts the same memory but notices late; else nothing.
 */
export type MemoryEnforcement = "cgroup" | "watch" | "none";

const cgroupRoot = "/sys/fs/cgroup";
const watchEveryMs = 500;

export function memoryEnforcement(): MemoryEnforcement {
  if (process.platform !== "linux") return "none";
  try {
    const controllers = readFileSync(join(cgroupRoot, "cgroup.subtree_control"), "utf8");
    accessSync(cgroupRoot, constants.W_OK);
    if (controllers.split(/\s+/).includes("memory")) return "cgroup";
  } catch {
    // No unified hierarchy, or not ours to write.
  }
  return "watch";
}

/** `onExceeded` is called at most once. A limit of 0 is none. */
export function limitMemory(
  pid: number | undefined,
  limitBytes: number,
  onExceeded: () => void,
): { release(): void } {
  if (pid === undefined || limitBytes <= 0) return { release: () => {} };
  const kind = memoryEnforcement();
  if (kind === "none") return { release: () => {} };
  const group = kind === "cgroup" ? enterCgroup(pid, limitBytes) : undefined;
  // A cgroup's kernel does the killing, but it does not say so: the count of its kills tells why a process died.
  const watch = setInterval(() => {
    const exceeded = group === undefined ? privateBytes(pid) > limitBytes : oomKills(group) > 0;
    if (!exceeded) return;
    clearInterval(watch);
    onExceeded();
  }, watchEveryMs);
  watch.unref();
  return {
    release: () => {
      clearInterval(watch);
      if (group !== undefined) leaveCgroup(group);
    },
  };
}

function enterCgroup(pid: number, limitBytes: number): string | undefined {
  const group = join(cgroupRoot, `cpln-simulator-${process.pid}-${pid}`);
  try {
    mkdirSync(group);
    writeFileSync(join(group, "memory.max"), String(limitBytes));
    writeFileSync(join(group, "cgroup.procs"), String(pid));
    return group;
  } catch {
    return undefined;
  }
}

function leaveCgroup(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // Not empty yet; an empty group without processes costs nothing.
  }
}

function oomKills(group: string): number {
  try {
    const events = readFileSync(join(group, "memory.events"), "utf8");
    return Number(/^oom_kill (\d+)/m.exec(events)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** What no other process shares and no file can give back: the part that counts when memory is short. */
function privateBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return (kilobytes("RssAnon") + kilobytes("RssShmem")) * 1024;
  } catch {
    return 0;
  }
}
