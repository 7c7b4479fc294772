import { SETTINGS, type Setting } from "./catalogue";
import { formatDuration, parseDuration } from "./durations";
import { bareName, nameProblem } from "./links";
import { isPort, MAX_PORT } from "./ports";

/** One value read by its entry in the catalogue; it may come from a variable (text) or from JSON. */
export type Read<T> = { ok: true; value: T } | { ok: false; reason: string };

export interface PortPair {
  listen: number;
  target: number;
}

export type ValueOf<S extends Setting> = S extends { kind: "duration" | "integer" }
  ? number
  : S extends { kind: "choice"; values: readonly (infer V)[] }
    ? V
    : S extends { kind: "ports" }
      ? PortPair[]
      : string;

const accept = <T>(value: T): Read<T> => ({ ok: true, value });
const refuse = (reason: string): Read<never> => ({ ok: false, reason });

export function readValue<S extends Setting>(setting: S, value: unknown): Read<ValueOf<S>>;
export function readValue(setting: Setting, value: unknown): Read<unknown> {
  switch (setting.kind) {
    case "duration":
      return typeof value === "string" ? readDuration(setting, value) : refuse(`must be text such as "5m"`);
    case "integer":
      return readInteger(setting, value);
    case "choice": {
      const choices = setting.values.join(", ");
      return setting.values.some((each) => each === value)
        ? accept(value)
        : refuse(`must be one of ${choices}`);
    }
    case "name":
      return typeof value === "string" ? readName(setting.of, value) : refuse("must be a name");
    case "host":
      return typeof value === "string" ? readHost(value.trim()) : refuse("must be a host name");
    case "ports":
      return typeof value === "string" ? readPorts(value) : refuse("must be text");
    case "url":
      return typeof value === "string" ? readUrl(value.trim()) : refuse("must be a URL");
    case "secret":
      return typeof value === "string" && /^[\x21-\x7e]+$/.test(value.trim())
        ? accept(value.trim())
        : refuse("must be printable text without spaces");
    case "target":
      return refuse("is read as a whole");
  }
}

function readDuration(setting: Setting & { kind: "duration" }, text: string): Read<number> {
  const parsed = parseDuration(text);
  if (!parsed.ok) return parsed;
  if (parsed.ms <= 0) return refuse("must be longer than 0s");
  if (parsed.ms < milliseconds(setting.min) || parsed.ms > milliseconds(setting.max)) {
    return refuse(`must be between ${setting.min} and ${setting.max}`);
  }
  return accept(parsed.ms);
}

/** For texts of the catalogue itself, which a test has found to be durations. */
export function milliseconds(text: string): number {
  const parsed = parseDuration(text);
  if (!parsed.ok) throw new RangeError(`${text}: ${parsed.reason}`);
  return parsed.ms;
}

function readInteger(setting: Setting & { kind: "integer" }, value: unknown): Read<number> {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value.trim()) ? Number(value.trim()) : value;
  if (typeof number !== "number" || !Number.isInteger(number)) return refuse("must be a whole number");
  if (number < setting.min || number > setting.max) {
    return refuse(`must be between ${setting.min} and ${setting.max}`);
  }
  return accept(number);
}

function readName(kind: "workload" | "gvc" | "org" | "location", text: string): Read<string> {
  const name = bareName(text, kind);
  if (name === undefined) return refuse(`must be the name of a ${kind}, or a link to one`);
  const reason = kind === "workload" || kind === "gvc" ? nameProblem(kind, name) : undefined;
  return reason === undefined ? accept(name) : refuse(reason);
}

function readHost(text: string): Read<string> {
  if (text.length <= 253 && /^[A-Za-z0-9_.:%-]+$/.test(text)) return accept(text);
  return refuse("must be a host name or an address, without scheme or port");
}

function readUrl(text: string): Read<string> {
  if (/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/.test(text)) return accept(text.replace(/\/+$/, ""));
  return refuse("must be an http or https URL without credentials, query or fragment");
}

/** `listen:target` pairs between commas; a bare port maps to itself; blanks and a last comma do no harm. */
function readPorts(text: string): Read<PortPair[]> {
  const pairs: PortPair[] = [];
  for (const piece of text.split(",").map((each) => each.trim())) {
    if (piece === "") continue;
    const match = /^(\d{1,6})(?:\s*:\s*(\d{1,6}))?$/.exec(piece);
    if (!match) return refuse(`must be pairs such as 2022:2022, separated by commas; "${piece}" is none`);
    const listen = Number(match[1]);
    const target = match[2] === undefined ? listen : Number(match[2]);
    if (!isPort(listen) || !isPort(target)) return refuse(`"${piece}" is outside 1-${MAX_PORT}`);
    if (pairs.some((pair) => pair.listen === listen)) return refuse(`listens on ${listen} twice`);
    pairs.push({ listen, target });
  }
  return pairs.length > 0 ? accept(pairs) : refuse("must name at least one port");
}

/** A value as the variable or the JSON key spells it. */
export function writeValue(setting: Setting, value: string | number): string | number {
  return setting.kind === "duration" && typeof value === "number" ? formatDuration(value) : value;
}

type Defaulted = {
  [N in keyof typeof SETTINGS]: (typeof SETTINGS)[N] extends { default: unknown } ? N : never;
};
export type DefaultedName = Defaulted[keyof Defaulted];

/** A setting's default in the form that the code holds. */
export function defaultOf<N extends DefaultedName>(name: N): ValueOf<(typeof SETTINGS)[N]>;
export function defaultOf(name: DefaultedName): string | number {
  const setting: Setting & { default: string | number } = SETTINGS[name];
  return setting.kind === "duration" ? milliseconds(setting.default) : setting.default;
}
