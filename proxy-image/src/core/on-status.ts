import { giveUp } from "./generation";
import type { Turn } from "./turn";
import type { DeploymentSnapshot } from "./types";

export function onStatus(turn: Turn, snapshot: DeploymentSnapshot): void {
  const { state, now } = turn;
  const sentAt = state.status?.sentAt ?? now;
  state.status = undefined;
  state.statusReadAt = now;
  state.statusFailed = false;
  const wanted = state.generation.version;
  // Status lags: what it says of an older version is neither proof nor failure of this generation. Nor is what was
  // asked before it began, which may even be of a workload that is gone.
  if (wanted === undefined || snapshot.lastProcessedVersion < wanted || sentAt < state.generation.since)
    return;
  // Somebody has written since, which may have been a suspend: what is ready then may be what it is ending.
  const unread = snapshot.lastProcessedVersion > (state.workload?.version ?? wanted);
  if (unread) state.readWanted = true;
  if (snapshot.ready && !unread && !state.generation.deploymentReady) {
    state.generation.deploymentReady = true;
    // Now is a better moment for a look than whenever the interval is over; it comes once a generation.
    for (const port of state.ports) if (!port.proved) port.probedAt = undefined;
  }
  if (state.phase !== "starting") return;
  const { failure } = snapshot;
  if (!failure) {
    state.failure = undefined;
    return;
  }
  const known = state.generation.gaveUpAt !== undefined && state.failure?.reason === failure.reason;
  giveUp(turn);
  state.failure = { ...failure, at: now };
  if (!known) turn.note({ event: "target_failed", ...failure, failedGenerations: state.failedGenerations });
}

/** Status is evidence, never a condition: without it the other proofs decide. */
export function onStatusFailed(turn: Turn): void {
  turn.state.status = undefined;
  turn.state.statusReadAt = turn.now;
  turn.state.statusFailed = true;
}
