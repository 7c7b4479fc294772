import { extraLooks } from "../boots";
import {
  PROBES_IN_FLIGHT_CAP,
  STARTING_LOOK_MS,
  TURNED_DOWN_LOOK_MS,
  TURNED_DOWN_PATIENCE_MS,
  TURNED_DOWN_TARGETS,
} from "../limits";
import { waiting } from "../state";
import type { Turn } from "../turn";
import type { PortState } from "../types";

/**
 * Looks at the ports that somebody waits for, at the poll interval, and more often where that is cheap or likely to
 * be worth it; with nobody waiting, at the first port while a wake attempt runs or a target is starting. Probes
 * overlap: behind a mesh that accepts for a dead target each is silent for the whole window, and waiting for its end
 * would add that window to the wake.
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
  if (!isWaitedFor(port) || between(turn)) return undefined;
  const { wakePollIntervalMs } = turn.config;
  return Math.min(wakePollIntervalMs, soon(turn, port) ?? wakePollIntervalMs);
}

function isWaitedFor(port: PortState): boolean {
  return port.waiting > 0 && !port.proved;
}

/**
 * Where nobody listens, a look costs next to nothing and is over at once, so the next may follow soon: one at a time,
 * the ports of a target in turn, less often the longer it goes on, and less often with many targets.
 */
function soon(turn: Turn, port: PortState): number | undefined {
  if (port.turnedDownSince === undefined || port.looks.length > 0) return undefined;
  const forMs = turn.now - port.turnedDownSince;
  const slower = TURNED_DOWN_PATIENCE_MS.filter((patience) => forMs >= patience).length;
  const ports = turn.state.ports.filter((each) => isWaitedFor(each) && each.turnedDownSince !== undefined);
  const share = Math.max(1, turn.config.targets / TURNED_DOWN_TARGETS);
  return TURNED_DOWN_LOOK_MS * 2 ** slower * ports.length * share;
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
  const isExtra = extraDue(turn, port);
  const atOnce = Math.min(Math.floor(probeWindowMs / wakePollIntervalMs) + 1, PROBES_IN_FLIGHT_CAP);
  // Whatever ends a probe is an event, so a full house needs no alarm.
  const full = port.looks.length >= atOnce + port.extraLooks;
  const due = port.probedAt === undefined || (!full && turn.due(port.probedAt + cadence));
  if (!isExtra && !due) return;
  port.probedAt = turn.now;
  port.looks = [...port.looks, turn.now];
  turn.emit({ type: "probe", port: port.port });
  turn.due(turn.now + cadence);
}

/**
 * Around the moment at which the port is expected from how it booted before, it is looked at more often: that cuts the
 * wait for the next look where each of them is silent for long. A fixed number of times a generation, and not where
 * looks follow each other soon anyway.
 */
function extraDue(turn: Turn, port: PortState): boolean {
  const { generation } = turn.state;
  if (!generation.woken || !isWaitedFor(port) || port.turnedDownSince !== undefined) return false;
  const times = extraLooks(port.boots, turn.config.wakePollIntervalMs).map((ms) => generation.since + ms);
  const passed = times.filter((at) => at <= turn.now).length;
  const isDue = passed > port.extraLooks;
  port.extraLooks = Math.max(port.extraLooks, passed);
  const next = times[passed];
  if (next !== undefined) turn.due(next);
  return isDue;
}
