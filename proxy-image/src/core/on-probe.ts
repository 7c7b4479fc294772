import { learnBoot } from "./boots";
import { evidenceFor } from "./evidence";
import { provePort } from "./generation";
import { portOf } from "./state";
import type { Turn } from "./turn";
import type { ProbeOutcome } from "./types";

/** Nobody listened, and said so at once. */
const TURNED_DOWN: ReadonlySet<ProbeOutcome> = new Set(["refused", "closed", "reset"]);

export function onProbed(turn: Turn, portNumber: number, startedAt: number, outcome: ProbeOutcome): void {
  const { state, config, now } = turn;
  const port = portOf(state, portNumber);
  const index = port.looks.indexOf(startedAt);
  port.looks = port.looks.filter((_, each) => each !== Math.max(index, 0));
  // Begun before the latest suspend: it speaks of replicas that are ending.
  if (state.suspendedAt !== undefined && startedAt < state.suspendedAt) return;
  // The gate is closed and a suspend is on its way: whatever answered is about to end.
  if (state.phase === "suspending") return;

  if (!TURNED_DOWN.has(outcome)) port.turnedDownSince = undefined;
  else port.turnedDownSince ??= now;
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
    if (evidence) {
      provePort(turn, port, evidence);
      learnBoot(turn, port, startedAt);
    }
  }
  if (port.proved && port.mute) {
    // A connection begun later was answered while an earlier one stays mute: that one belongs to nobody.
    // One may be among them that was begun after this probe: it needs a later one.
    port.mute = (port.mutedAt ?? now) - config.probeWindowMs >= startedAt;
    turn.emit({ type: "recall", port: portNumber, begunBefore: startedAt });
  }
}
