import { doubtfulUntil } from "../evidence";
import type { Turn } from "../turn";

/** Lets waiting clients through where the port is proved and no suspend is under way or may still land. */
export function gate(turn: Turn): void {
  const { state } = turn;
  const open = state.phase === "awake" || state.phase === "unknown";
  for (const port of state.ports) {
    if (port.connecting === 0) port.mute = false;
    if (!open || !port.proved || port.waiting === 0 || threatened(turn)) continue;
    port.connecting += port.waiting;
    port.waiting = 0;
    turn.emit({ type: "open", port: port.port });
  }
}

/**
 * A suspend of unknown outcome has neither been seen to land nor been overruled. Waited for as long as old replicas
 * are, and no longer: with the API out of reach for good, an answer counts more than a fear.
 */
function threatened(turn: Turn): boolean {
  return turn.state.doubt?.lostSuspend === "open" && !turn.due(doubtfulUntil(turn.state));
}
