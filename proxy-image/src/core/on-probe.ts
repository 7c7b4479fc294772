import { evidenceFor } from "./evidence";
import { provePort } from "./generation";
import { portOf } from "./state";
import type { Turn } from "./turn";
import type { ProbeOutcome } from "./types";

export function onProbed(turn: Turn, portNumber: number, startedAt: number, outcome: ProbeOutcome): void {
  const { state, config, now } = turn;
  const port = portOf(state, portNumber);
  port.probesInFlight -= 1;
  // Begun before the latest suspend: it speaks of replicas that are ending.
  if (state.suspendedAt !== undefined && startedAt < state.suspendedAt) return;
  // The gate is closed and a suspend is on its way: whatever answered is about to end.
  if (state.phase === "suspending") return;

  // Names that don't resolve and routes that don't exist say nothing about the replicas.
  if (outcome === "unreachable") return;
  // Somebody is there, of whatever generation, and serves nobody: neither a proof nor the lack of one.
  if (outcome === "unready") return;
  if (outcome !== "answered") {
    port.nobodyAt = Math.max(port.nobodyAt ?? startedAt, startedAt);
    return;
  }
  port.answeredAt = now;
  if (!port.proved) {
    const evidence = evidenceFor(state, port, startedAt);
    if (evidence) provePort(turn, port, evidence);
  }
  if (port.proved && port.mute) {
    // A connection begun later was answered while an earlier one stays mute: that one belongs to nobody.
    // One may be among them that was begun after this probe: it needs a later one.
    port.mute = (port.mutedAt ?? now) - config.probeWindowMs >= startedAt;
    turn.emit({ type: "recall", port: portNumber, begunBefore: startedAt });
  }
}
