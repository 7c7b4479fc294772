import { fromEscapes } from "./escapes";
import { KINDS, OPTIONS, type ReadinessKind } from "./readiness";
import type { PortMapping, Readiness } from "./settings";

/** Something wrong with a `readiness`, and where in it. */
export interface Refusal {
  reason: string;
  path: string[];
}

type Grammar<T> = { ok: true; value: T } | { ok: false; refusals: Refusal[] };

const isKind = (value: unknown): value is ReadinessKind => typeof value === "string" && value in KINDS;

/** A kind alone (`"postgres"`), or an object with its options (`{ "kind": "http", "path": "/healthz" }`). */
export function readReadiness(value: unknown): Grammar<Readiness> {
  const given: unknown = typeof value === "string" ? { kind: value } : value;
  const refuse = (reason: string, ...path: string[]): Grammar<never> => ({
    ok: false,
    refusals: [{ reason, path }],
  });
  const kinds = Object.keys(KINDS).join(", ");
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return refuse(`must be one of ${kinds}, or an object with such a kind`);
  }
  const { kind, ...rest } = given as Record<string, unknown>;
  if (!isKind(kind)) {
    return typeof value === "string"
      ? refuse(`must be one of ${kinds}`)
      : refuse(kind === undefined ? "is required" : `must be one of ${kinds}`, "kind");
  }
  const allowed: readonly string[] = KINDS[kind].options;
  const refusals: Refusal[] = [];
  for (const [key, each] of Object.entries(rest)) {
    if (each === undefined) continue;
    const known = allowed.length === 0 ? `${kind} takes no options` : `${kind} takes ${allowed.join(", ")}`;
    const reason = allowed.includes(key)
      ? OPTIONS[key as keyof typeof OPTIONS].refuse(each)
      : `is not known; ${known}`;
    if (reason !== undefined) refusals.push({ reason, path: [key] });
  }
  if (kind === "custom" && (rest.send === undefined) === (rest.sendHex === undefined)) {
    refusals.push({ reason: "needs either send or sendHex", path: [] });
  }
  if (refusals.length > 0) return { ok: false, refusals };
  return { ok: true, value: build(kind, rest) };
}

/** Options were found right; those that have a default get it. */
function build(kind: ReadinessKind, given: Record<string, unknown>): Readiness {
  const value: Record<string, unknown> = { kind };
  for (const name of KINDS[kind].options) {
    const chosen = given[name] ?? defaultOf(name);
    if (chosen !== undefined) value[name] = chosen;
  }
  if (kind !== "custom") return value as unknown as Readiness;
  const { send, sendHex, ...rest } = value as Record<string, string>;
  return { ...rest, send: sendHex?.toLowerCase() ?? fromEscapes(send ?? "") } as unknown as Readiness;
}

function defaultOf(name: keyof typeof OPTIONS): string | number | undefined {
  const option: { refuse: unknown; default?: string | number } = OPTIONS[name];
  return option.default;
}

/** As short as it can be said: `readReadiness` gives the same back. */
export function writeReadiness(readiness: Readiness): unknown {
  const { kind, ...options } = readiness;
  const written = Object.entries(options).filter(([name, value]) => {
    return value !== undefined && value !== defaultOf(name as keyof typeof OPTIONS);
  });
  if (written.length === 0) return kind;
  const named = written.map(([name, value]) => [
    kind === "custom" && name === "send" ? "sendHex" : name,
    value,
  ]);
  return { kind, ...Object.fromEntries(named) };
}

/** Why the parts of a mapping can't stand together: a client and a server that would wait for each other for ever. */
export function deadlock(
  { readiness, wakeOn }: Pick<PortMapping, "readiness" | "wakeOn">,
  earlyBytes: number,
): { key: "wakeOn" | "readiness"; reason: string } | undefined {
  const { first, atOnce, fits } = KINDS[readiness.kind];
  if (wakeOn !== "connect" && first === "server" && !atOnce) {
    const hint = readiness.kind === "banner" ? "; name the protocol where its client speaks at once" : "";
    const reason = `would wait for bytes of a client that waits for the server to speak first${hint}`;
    return { key: "wakeOn", reason };
  }
  if (wakeOn === "fitting" && !fits) {
    return { key: "wakeOn", reason: `needs a named protocol; ${readiness.kind} can't tell what fits` };
  }
  if (wakeOn !== "connect" && earlyBytes === 0) {
    return { key: "wakeOn", reason: "would wait for bytes that are never read: EARLY_BYTES is 0" };
  }
  if (readiness.kind === "replay" && readiness.bytes > earlyBytes) {
    return {
      key: "readiness",
      reason: `keeps more bytes than EARLY_BYTES, ${earlyBytes}, lets a client send`,
    };
  }
  return undefined;
}
