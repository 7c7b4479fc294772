/**
 * Durations as people write them (Go's syntax: `1h30m`, `500ms`, `1.5s`) and as the code holds them (milliseconds).
 * Exact in both directions: whatever can't be a whole number of milliseconds is refused, never rounded.
 */

const NANOSECONDS: Record<string, bigint> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  // Go takes both spellings of micro: U+00B5 and U+03BC.
  "\u00b5s": 1_000n,
  "\u03bcs": 1_000n,
  ns: 1n,
};

const TERM = /(\d+(?:\.\d*)?|\.\d+)(ms|us|\u00b5s|\u03bcs|ns|h|m|s)/y;
const MILLISECOND = 1_000_000n;
const MAX_TEXT = 40;

export type Duration = { ok: true; ms: number } | { ok: false; reason: string };

const refuse = (reason: string): Duration => ({ ok: false, reason });

export function parseDuration(text: string): Duration {
  const trimmed = text.trim();
  if (trimmed.length > MAX_TEXT) return refuse("is too long for a duration such as 5m or 1h30m");
  const sign = /^[+-]/.exec(trimmed)?.[0] ?? "";
  const body = trimmed.slice(sign.length);
  if (body === "0") return { ok: true, ms: 0 };
  if (/^\d+(\.\d*)?$/.test(body)) return refuse(`needs a unit, such as ${body}s or ${body}m`);

  let nanoseconds = 0n;
  TERM.lastIndex = 0;
  while (TERM.lastIndex < body.length) {
    const term = TERM.exec(body);
    if (!term) return refuse("must be a duration such as 500ms, 5m or 1h30m");
    const [, number = "", unit = ""] = term;
    const [whole = "", fraction = ""] = number.split(".");
    const scale = 10n ** BigInt(fraction.length);
    const scaled = BigInt(`${whole}${fraction}`) * (NANOSECONDS[unit] ?? 0n);
    if (scaled % scale !== 0n) return refuse("is finer than a nanosecond");
    nanoseconds += scaled / scale;
  }
  if (body === "") return refuse("must be a duration such as 500ms, 5m or 1h30m");
  if (nanoseconds % MILLISECOND !== 0n) return refuse("must be a whole number of milliseconds");
  const ms = Number(nanoseconds / MILLISECOND);
  if (!Number.isSafeInteger(ms)) return refuse("is too long");
  return { ok: true, ms: sign === "-" && ms !== 0 ? -ms : ms };
}

const UNITS = [
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** The shortest text that parses back to the same number: `5m`, `1h30m`, `1.5s`, `500ms`. */
export function formatDuration(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError(`not a duration in milliseconds: ${ms}`);
  if (ms === 0) return "0s";
  if (ms < 1000) return `${ms}ms`;
  let rest = ms;
  let text = "";
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return rest === 0 ? text : `${text}${secondsText(rest)}s`;
}

function secondsText(ms: number): string {
  const fraction = String(ms % 1000)
    .padStart(3, "0")
    .replace(/0+$/, "");
  const whole = Math.floor(ms / 1000);
  return fraction === "" ? String(whole) : `${whole}.${fraction}`;
}
