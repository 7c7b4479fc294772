import type { Evidence, PortState, TargetState } from "./types";

/**
 * After a suspend the old replicas go on answering for the workload's termination grace, so an answer alone proves
 * nothing then. Returns what shows that an answer to a probe begun at `probeStartedAt` came from the current
 * generation, or undefined.
 */
export function evidenceFor(
  state: TargetState,
  port: PortState,
  probeStartedAt: number,
): Evidence | undefined {
  if (probeStartedAt >= doubtfulUntil(state)) return "no_recent_suspend";
  // Judged port by port: the old generation may have stopped listening on one port and still answer on another.
  // Start times are compared, not end times: a probe that found nobody shows that nobody was there when it began.
  if (port.nobodyAt !== undefined && port.nobodyAt < probeStartedAt) return "nobody_then_answer";
  // Set only once the version of this generation is known, which it is not while the target is suspended.
  if (state.generation.deploymentReady) return "deployment_ready";
  return undefined;
}

/** Until when an answer may still come from replicas that a suspend is ending. */
export function doubtfulUntil(state: TargetState): number {
  return state.drainedAt ?? Number.NEGATIVE_INFINITY;
}
