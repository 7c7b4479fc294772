import { ATTEMPT_RETRY_CAP_MS } from "./limits";
import { failing } from "./rules/failure";
import { portOf } from "./state";
import type { Turn } from "./turn";
import type { ConnectFailure, Event } from "./types";

export function onArrived(turn: Turn, port: number): void {
  portOf(turn.state, port).waiting += 1;
}

export function onSpliced(turn: Turn, portNumber: number): void {
  const port = portOf(turn.state, portNumber);
  port.connecting -= 1;
  port.spliced += 1;
  port.answeredAt = turn.now;
}

export function onLane(turn: Turn, lane: Extract<Event, { type: "lane" }>): void {
  const { state, now } = turn;
  const port = portOf(state, lane.port);
  port.lane = lane.clients;
  if (lane.answered) port.answeredAt = now;
  if (lane.left) state.lastLeftAt = now;
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
  const port = portOf(turn.state, portNumber);
  port.mute = true;
  port.mutedAt = turn.now;
  turn.state.readWanted = true;
}

export function onLeft(turn: Turn, left: Extract<Event, { type: "left" }>): void {
  const { state, now } = turn;
  const { port: portNumber, from, unanswered = false, stranger = false } = left;
  const port = portOf(state, portNumber);
  port[from] -= 1;
  // The client could not be kept, since its bytes were gone: the next one of this port is not sent there unproved.
  if (unanswered) {
    port.proved = false;
    state.readWanted = true;
  }
  // Whoever is turned away has not used the target: a client that keeps coming must not keep a failed one up.
  const turnedAway = from !== "spliced" && failing(turn);
  // Nor a stranger, who would not have woken it: scans of a public port come more often than any idle-hold.
  if (!turnedAway && !stranger) state.lastLeftAt = now;
}

/**
 * Near its end, a hold is better spent on a target that answers without proof than on a certain drop. Not while a
 * suspend is under way: that answer is surely from replicas that are about to end.
 */
export function onHoldEnding(turn: Turn, portNumber: number, id: number): void {
  const { state, config, now } = turn;
  const port = portOf(state, portNumber);
  // Between two attempts nothing is probed, and what was found last still counts.
  const pause = state.attempt?.nextAt === undefined ? 0 : 2 * ATTEMPT_RETRY_CAP_MS;
  const recently = config.wakePollIntervalMs + config.probeWindowMs + pause;
  const answered = port.answeredAt ?? Number.NEGATIVE_INFINITY;
  const answers = now - answered <= recently && answered > (port.nobodyAt ?? Number.NEGATIVE_INFINITY);
  if (!answers || state.phase === "suspending" || port.waiting === 0) return;
  port.waiting -= 1;
  port.connecting += 1;
  turn.emit({ type: "connect-anyway", port: portNumber, id });
  turn.note({ event: "connected_unproved", port: portNumber });
}
