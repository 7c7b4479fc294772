import { open, readFile, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 500;
/** A lock of another machine sharing the home folder is believed this long, its process being out of sight. */
const foreignLockMs = 30 * 60_000;

/**
 * Runs `work` while holding a lock file, so that two commands started at once do not both build for minutes.
 * Only that: taking over a dead owner's lock has a race in which two get in, and what they make must stand it.
 */
export async function withLock<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let waiting = false;
  while (!(await tryCreate(path))) {
    if (await isStale(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (!waiting) onWait();
    waiting = true;
    await delay(pollMs);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryCreate(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    await file.writeFile(`${process.pid}@${hostname()}`);
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const [pid, host] = (await readFile(path, "utf8")).split("@", 2);
    if (host === hostname()) return !isAlive(Number(pid));
    return Date.now() - (await stat(path)).mtimeMs > foreignLockMs;
  } catch {
    // Gone meanwhile: the next try to create it tells.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
