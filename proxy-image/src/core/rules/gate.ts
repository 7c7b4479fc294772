import { doubtfulUntil } from "../evidence";
import type { Turn } from "../turn";
import type { PortState } from "../types";

/** Lets waiting clients through where the port is proved and no suspend is under way or may still land. */
export function gate(turn: Turn): void {
  const { state } = turn;
  for (const port of state.ports) {
    if (port.connecting === 0) port.mute = false;
    if (port.waiting === 0 || !isOpen(turn, port)) continue;
    port.connecting += port.waiting;
    port.waiting = 0;
    turn.emit({ type: "open", port: port.port });
  }
}

/**
 * The ports where the next client would be let through at once. Not while another one is still on its way there: he
 * may find that the port is not what it was.
 */
export function openLanes(turn: Turn): number[] {
  const free = (port: PortState) => port.waiting === 0 && port.connecting === 0 && isOpen(turn, port);
  return turn.state.ports.filter(free).map(({ port }) => port);
}

function isOpen(turn: Turn, port: PortState): boolean {
  const { phase } = turn.state;
  return (phase === "awake" || phase === "unknown") && port.proved && !threatened(turn);
}

/**
 * A suspend of unknown outcome has neither been seen to land nor been overruled. Waited for as long as old replicas
 * are, and no longer: with the API out of reach for good, an answer counts more than a fear.
 */
function threatened(turn: Turn): boolean {
  return turn.state.doubt?.lostSuspend === "open" && !turn.due(doubtfulUntil(turn.state));
}
