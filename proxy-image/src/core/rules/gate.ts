import type { Turn } from "../turn";

/** Lets waiting clients through where the port is proved and no suspend is under way. */
export function gate(turn: Turn): void {
  const { state } = turn;
  const open = state.phase === "awake" || state.phase === "unknown";
  for (const port of state.ports) {
    if (port.connecting === 0) port.mute = false;
    if (!open || !port.proved || port.waiting === 0) continue;
    port.connecting += port.waiting;
    port.waiting = 0;
    turn.emit({ type: "open", port: port.port });
  }
}
