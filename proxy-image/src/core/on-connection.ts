import { demand, portOf } from "./state";
import type { Turn } from "./turn";
import type { ConnectFailure, ConnectionStage } from "./types";

export function onArrived(turn: Turn, port: number): void {
  portOf(turn.state, port).waiting += 1;
}

export function onSpliced(turn: Turn, portNumber: number): void {
  const port = portOf(turn.state, portNumber);
  port.connecting -= 1;
  port.spliced += 1;
  port.answeredAt = turn.now;
}

/** A client's own connection failed before the target spoke, so no byte is lost and the client waits again. */
export function onReturned(turn: Turn, portNumber: number, failure: ConnectFailure): void {
  const { state } = turn;
  const port = portOf(state, portNumber);
  port.connecting -= 1;
  port.waiting += 1;
  if (failure === "recalled") return;
  // What was known of this port no longer holds; the other ports are judged by their own clients.
  port.proved = false;
  state.readWanted = true;
}

/** The client's connection may still win; a read and a probe beside it find out more. */
export function onMute(turn: Turn, portNumber: number): void {
  portOf(turn.state, portNumber).mute = true;
  turn.state.readWanted = true;
}

export function onLeft(turn: Turn, portNumber: number, from: ConnectionStage): void {
  const { state, now } = turn;
  portOf(state, portNumber)[from] -= 1;
  if (demand(state) === 0) state.lastLeftAt = now;
}

/**
 * Near its end, a hold is better spent on a target that answers without proof than on a certain drop. Not while a
 * suspend is under way: that answer is surely from replicas that are about to end.
 */
export function onHoldEnding(turn: Turn, portNumber: number, id: number): void {
  const { state, config, now } = turn;
  const port = portOf(state, portNumber);
  const recently = config.wakePollIntervalMs + config.probeWindowMs;
  const answers = port.answeredAt !== undefined && now - port.answeredAt <= recently;
  if (!answers || state.phase === "suspending" || port.waiting === 0) return;
  port.waiting -= 1;
  port.connecting += 1;
  turn.emit({ type: "connect-anyway", port: portNumber, id });
  turn.note({ event: "connected_unproved", port: portNumber });
}
