import { BOOTS_KEPT, EXTRA_LOOK_LEAST_MS, EXTRA_LOOKS } from "./limits";
import type { Turn } from "./turn";
import type { Boot, PortState } from "./types";

/**
 * A look begun at `answeredFrom` has proved the port: how long it took from the un-suspend to the first answer. Learnt
 * once a generation, of those that this proxy woke itself, and only where the port was looked at often enough to tell.
 */
export function learnBoot(turn: Turn, port: PortState, answeredFrom: number): void {
  const { generation } = turn.state;
  if (!generation.woken || port.bootOf === generation.number) return;
  port.bootOf = generation.number;
  // Looks that are still silent were begun too soon, too.
  const tooSoon = [generation.since, port.nobodyAt ?? generation.since, ...port.looks];
  const after = Math.max(...tooSoon.filter((at) => at < answeredFrom), generation.since);
  const blurMs = (answeredFrom - after) / 2;
  if (blurMs > turn.config.wakePollIntervalMs) return;
  const boot = { ms: (answeredFrom + after) / 2 - generation.since, blurMs };
  port.boots = [...port.boots, boot].slice(-BOOTS_KEPT);
}

/**
 * When, after an un-suspend, a port that takes as long as it did before is worth an extra look: an even number of
 * times around the middle of what was learnt, as far to either side as it varied, and no further for one odd boot.
 */
export function extraLooks(boots: readonly Boot[], pollIntervalMs: number): number[] {
  if (boots.length === 0) return [];
  const middle = median(boots.map(({ ms }) => ms));
  const variation = median(boots.map(({ ms, blurMs }) => Math.abs(ms - middle) + blurMs));
  const spacing = Math.min(Math.max((4 * variation) / EXTRA_LOOKS, EXTRA_LOOK_LEAST_MS), pollIntervalMs / 2);
  return Array.from(
    { length: EXTRA_LOOKS },
    (_, index) => middle + (index - (EXTRA_LOOKS - 1) / 2) * spacing,
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(half)] ?? 0) + (sorted[Math.ceil(half)] ?? 0)) / 2;
}
