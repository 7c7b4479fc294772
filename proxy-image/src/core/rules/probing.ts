import { PROBES_IN_FLIGHT_CAP, STARTING_LOOK_MS } from "../limits";
import { waiting } from "../state";
import type { Turn } from "../turn";
import type { PortState } from "../types";

/**
 * Looks at the ports that somebody waits for, at the poll interval; with nobody waiting, at the first port while a
 * wake attempt runs or a target is starting. Probes overlap: behind a mesh that accepts for a dead target each is
 * silent for the whole window, and waiting for its end would add that window to the wake.
 */
export function probing(turn: Turn): void {
  const { state } = turn;
  if (state.phase === "suspending") return;
  const [first] = state.ports;
  const nobodyWaits = waiting(state) === 0;
  for (const port of state.ports) {
    const cadence =
      beside(turn, port) ??
      waitedFor(turn, port) ??
      (nobodyWaits && port === first ? lookout(turn, port) : undefined);
    if (cadence !== undefined) probe(turn, port, cadence);
  }
}

/** A client's own connection is mute: a probe beside it tells whether somebody is there. */
function beside(turn: Turn, port: PortState): number | undefined {
  return port.mute && port.connecting > 0 ? turn.config.probeWindowMs : undefined;
}

function waitedFor(turn: Turn, port: PortState): number | undefined {
  if (port.proved || port.waiting === 0) return undefined;
  return between(turn) ? undefined : turn.config.wakePollIntervalMs;
}

/** A wake goes on to its end whether or not its clients stay; after that somebody still looks now and then. */
function lookout(turn: Turn, port: PortState): number | undefined {
  const { phase, attempt } = turn.state;
  if (port.proved || (phase !== "starting" && phase !== "waking")) return undefined;
  if (attempt && !between(turn)) return turn.config.wakePollIntervalMs;
  return phase === "starting" ? STARTING_LOOK_MS : undefined;
}

/** The last wake attempt is over and the next has not begun. */
function between(turn: Turn): boolean {
  return turn.state.phase === "starting" && turn.state.attempt?.nextAt !== undefined;
}

function probe(turn: Turn, port: PortState, cadence: number): void {
  const { wakePollIntervalMs, probeWindowMs } = turn.config;
  const atOnce = Math.min(Math.floor(probeWindowMs / wakePollIntervalMs) + 1, PROBES_IN_FLIGHT_CAP);
  // Whatever ends a probe is an event, so a full house needs no alarm.
  if (port.probesInFlight >= atOnce) return;
  if (port.probedAt !== undefined && !turn.due(port.probedAt + cadence)) return;
  port.probedAt = turn.now;
  port.probesInFlight += 1;
  turn.emit({ type: "probe", port: port.port });
  turn.due(turn.now + cadence);
}
