import { drainWithin, OWN_GRACE_MARGIN_MS } from "./drain";
import { formatDuration } from "./durations";
import type { ProxySettings, TargetSettings } from "./settings";

/** Settings that may stand but seldom do what was meant. */
export interface Advice {
  /** The entry of the catalogue, by variable. */
  setting: string;
  /** Which target, by its place in the list; absent for the process. */
  target?: number;
  text: string;
}

/** What the fastest targets were measured to take from suspended to ready. */
const FASTEST_WAKE_MS = 10_000;

export function advise(settings: Omit<ProxySettings, "platform">): Advice[] {
  const { ownGraceMs, drainTimeoutMs } = settings;
  const advice: Advice[] = settings.targets.flatMap((target, index) =>
    adviseTarget(target, settings).map((each) => ({ ...each, target: index })),
  );
  if (ownGraceMs !== undefined && drainTimeoutMs > drainWithin(ownGraceMs)) {
    const text =
      `sessions are to drain for ${formatDuration(drainTimeoutMs)}, but of the grace of ` +
      `${formatDuration(ownGraceMs)} the platform's own shutdown leaves ${formatDuration(drainWithin(ownGraceMs))}`;
    advice.push({ setting: "DRAIN_TIMEOUT", text });
  }
  return advice;
}

function adviseTarget(target: TargetSettings, settings: Omit<ProxySettings, "platform">): Advice[] {
  const advice: Advice[] = [];
  const say = (setting: string, text: string) => advice.push({ setting, text });
  const { maxHoldMs, wakeTimeoutMs, probeWindowMs, wakePollIntervalMs, idleHoldMs } = target;
  const { ownGraceMs } = settings;

  if (maxHoldMs < FASTEST_WAKE_MS) {
    say(
      "MAX_HOLD",
      `a client is dropped after ${formatDuration(maxHoldMs)}, before most targets can be awake`,
    );
  }
  if (wakeTimeoutMs < maxHoldMs / 2) {
    const text = `an attempt of ${formatDuration(wakeTimeoutMs)} is given up several times while one client is held for ${formatDuration(maxHoldMs)}`;
    say("WAKE_TIMEOUT", text);
  }
  for (const [setting, ms] of [
    ["PROBE_WINDOW", probeWindowMs],
    ["WAKE_POLL_INTERVAL", wakePollIntervalMs],
  ] as const) {
    if (ms >= Math.min(wakeTimeoutMs, maxHoldMs)) {
      say(
        setting,
        `${formatDuration(ms)} leaves no time for a second probe within MAX_HOLD and WAKE_TIMEOUT`,
      );
    }
  }
  if (ownGraceMs !== undefined && idleHoldMs < ownGraceMs + OWN_GRACE_MARGIN_MS) {
    const wait = formatDuration(ownGraceMs + OWN_GRACE_MARGIN_MS);
    say("IDLE_HOLD", `after its own start the proxy still waits ${wait} before it suspends anything`);
  }
  if (target.maxHeld > target.maxConnections) {
    say("MAX_HELD", "is above MAX_CONNECTIONS, which counts held clients too, and so has no effect");
  }
  if (target.maxHeld > settings.maxHeldTotal) say("MAX_HELD", "is above MAX_HELD_TOTAL and so has no effect");
  if (target.maxConnections > settings.maxConnectionsTotal) {
    say("MAX_CONNECTIONS", "is above MAX_CONNECTIONS_TOTAL and so has no effect");
  }
  return advice;
}
