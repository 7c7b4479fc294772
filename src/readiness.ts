import { KINDS, type ProtocolName, type ReadinessKind } from "./contract/readiness";
import type { PlainArgs } from "./plain-args";
import { mappingsOf, type RawMapping } from "./target-list";

/** Ports whose protocol is as good as certain, and where asking in it does no harm if it is not. */
const USUAL: Readonly<Record<number, ProtocolName>> = {
  22: "ssh",
  2022: "ssh",
  2222: "ssh",
  21: "ftp",
  25: "smtp",
  587: "smtp",
  3306: "mysql",
  5432: "postgres",
  6379: "redis",
  1883: "mqtt",
  5672: "amqp",
};

/** The protocol that the ports suggest: the target's own, else the one that clients know. */
function inferred({ port, target }: RawMapping): { protocol: ProtocolName; from: number } | undefined {
  for (const from of [target, port]) {
    const protocol = from === undefined ? undefined : USUAL[from];
    if (from !== undefined && protocol !== undefined) return { protocol, from };
  }
  return undefined;
}

/** A mapping's readiness and what wakes, as given or by default, unchecked. */
export function readinessOf(
  mapping: RawMapping,
  earlyBytes: unknown,
): { readiness: unknown; wakeOn: unknown } {
  const readiness: unknown = mapping.readiness ?? inferred(mapping)?.protocol;
  return { readiness, wakeOn: mapping.wakeOn ?? usualWake(readiness, earlyBytes) };
}

/** A stranger who says nothing that fits should cost nothing, wherever the clients speak at once. */
function usualWake(readiness: unknown, earlyBytes: unknown): string | undefined {
  const kind: unknown = typeof readiness === "object" ? (readiness as { kind?: unknown })?.kind : readiness;
  if (typeof kind !== "string" || !(kind in KINDS) || earlyBytes === 0) return undefined;
  const { atOnce, fits } = KINDS[kind as ReadinessKind];
  return atOnce && fits ? "fitting" : undefined;
}

/** What a preview says about protocols that nobody chose. */
export function inferences(args: PlainArgs): { variable: string; path: (string | number)[]; text: string }[] {
  return mappingsOf(args).flatMap(({ mapping, variable, path }) => {
    const found = mapping.readiness === undefined ? inferred(mapping) : undefined;
    if (!found) return [];
    const text = `${found.protocol}, as port ${found.from} suggests; give it to choose another`;
    return [{ variable, path: [...path, "readiness"], text }];
  });
}
