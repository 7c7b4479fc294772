import type { Command } from "./events.ts";
import type { Replica } from "./state.ts";

/**
 * The ordinary end: preStop in every container, then the stop signal, and whatever is left is killed when the
 * grace period ends. A replica whose containers were never started has nothing to end.
 */
export function terminate(replica: Replica, now: number, commands: Command[]): void {
  if (replica.phase !== "up") {
    replica.phase = "killed";
    commands.push({ type: "kill", replica: replica.id });
    return;
  }
  // Its own: what a later document says does not reach a replica that was made before.
  const { graceMs } = replica.spec;
  replica.phase = "terminating";
  replica.terminatingSince = now;
  replica.graceEndsAt = now + graceMs;
  for (const container of replica.containers) {
    if (container.phase === "running") {
      commands.push({ type: "pre-stop", replica: replica.id, container: container.name });
    } else {
      container.phase = "stopped";
    }
  }
  if (replica.containers.every((item) => item.phase === "stopped")) {
    kill(replica, commands);
    return;
  }
  commands.push({
    type: "after",
    delayMs: graceMs,
    event: { type: "grace-over", replica: replica.id },
  });
}

export function kill(replica: Replica, commands: Command[]): void {
  replica.phase = "killed";
  delete replica.readySince;
  for (const container of replica.containers) container.ready = false;
  commands.push({ type: "kill", replica: replica.id });
}
