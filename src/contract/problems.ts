/** One thing wrong with the settings. Found in one place, worded for several readers: the proxy's log, a preview. */
export interface Problem {
  /** `newer`: rendered by a component that knows more than this proxy. */
  kind: "missing" | "invalid" | "unknown" | "conflict" | "newer" | "too-long";
  /** The environment variable. */
  variable: string;
  /** Inside a variable that holds JSON. */
  path: readonly (string | number)[];
  reason: string;
  /** The value as text. Absent where there was none and where it is a secret. */
  got?: string;
}

const MAX_ECHO = 80;

export function problem(
  kind: Problem["kind"],
  variable: string,
  reason: string,
  at: { path?: readonly (string | number)[]; got?: unknown } = {},
): Problem {
  const found: Problem = { kind, variable, path: at.path ?? [], reason };
  return at.got === undefined ? found : { ...found, got: asText(at.got) };
}

function asText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO)}…` : text;
}

/** `["ports", 0, "listen"]` as `ports[0].listen`. */
export function formatPath(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
}

/** `NAME: reason (got "…")`, on one line whatever the value holds. */
export function formatProblem({ variable, path, reason, got }: Problem): string {
  const name = formatPath([variable, ...path]);
  return got === undefined ? `${name}: ${reason}` : `${name}: ${reason} (got "${oneLine(got)}")`;
}

// A value comes from outside: it may not forge a second log line or confuse a terminal.
const oneLine = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\x7f-\x9f\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
