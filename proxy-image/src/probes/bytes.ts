import type { Fit, Judgement } from "./protocol";

/** The first line without its end, or undefined while it has none. */
export function firstLine(bytes: Buffer): string | undefined {
  const end = bytes.indexOf(10);
  return end < 0 ? undefined : bytes.toString("latin1", 0, end).replace(/\r$/, "");
}

/** Whether the bytes begin with the text, or may once more of them are there. */
export function begins(bytes: Buffer, text: string): boolean | "more" {
  const known = Math.min(bytes.length, text.length);
  if (bytes.toString("latin1", 0, known) !== text.slice(0, known)) return false;
  return known === text.length ? true : "more";
}

/** What the first matching text says; `more` while one may still match. */
export function byPrefix(bytes: Buffer, table: readonly (readonly [string, Judgement])[]): Judgement {
  let open = false;
  for (const [text, judgement] of table) {
    const found = begins(bytes, text);
    if (found === true) return judgement;
    if (found === "more") open = true;
  }
  return open ? "more" : "not-ready";
}

export function fitsPrefix(bytes: Buffer, ...texts: string[]): Fit {
  const found = texts.map((text) => begins(bytes, text));
  if (found.includes(true)) return "fits";
  return found.includes("more") ? "more" : "unfit";
}

/** The better of two: a port may be spoken to in more than one way. */
export function either(one: Fit, other: Fit): Fit {
  if (one === "fits" || other === "fits") return "fits";
  return one === "more" || other === "more" ? "more" : "unfit";
}

/** The beginning of a TLS handshake: servers of many protocols take TLS on the same port. */
export function fitsTls(bytes: Buffer): Fit {
  const expected = [(byte: number) => byte === 22, (byte: number) => byte === 3, (byte: number) => byte <= 4];
  const known = expected.slice(0, bytes.length);
  if (!known.every((matches, index) => matches(bytes[index] ?? 0))) return "unfit";
  if (bytes.length < 6) return "more";
  return bytes[5] === 1 ? "fits" : "unfit";
}

/** A pattern sees bytes as characters 0-255. */
export const matches = (bytes: Buffer, pattern: string): boolean =>
  new RegExp(pattern, "s").test(bytes.toString("latin1"));

/** MQTT's and Minecraft's numbers: seven bits a byte, lowest first. `undefined`: more is needed; NaN: none. */
export function varInt(
  bytes: Buffer,
  at: number,
  longest: number,
): { value: number; next: number } | undefined {
  let value = 0;
  for (let index = 0; index < longest; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value += (byte & 127) * 128 ** index;
    if (byte < 128) return { value, next: at + index + 1 };
  }
  return { value: Number.NaN, next: at + longest };
}
