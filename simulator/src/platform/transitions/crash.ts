import type { ContainerState, Replica } from "./state.ts";

const longestBackoffMs = 300_000;

/** A container ended by itself. In a replica that is going away that is its end; else it will be started again. */
export function exited(
  replica: Replica,
  container: ContainerState,
  exit: { exitCode: number; reason: string },
): void {
  if (container.phase === "stopped" || container.phase === "backing-off") return;
  container.exitCode = exit.exitCode;
  container.reason = exit.reason;
  if (replica.phase === "terminating") {
    container.phase = "stopped";
    return;
  }
  container.phase = "backing-off";
  container.restarts += 1;
}

export function restarted(container: ContainerState, now: number): void {
  container.phase = "waiting";
  container.lastRestartAt = now;
}

/** The first restart comes at once, as with the platform's kubelet; then the pause doubles. */
export function backoffMs(restarts: number, firstMs: number): number {
  return restarts <= 1 ? 0 : Math.min(firstMs * 2 ** (restarts - 2), longestBackoffMs);
}
