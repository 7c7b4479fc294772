import type { CallFailure } from "../core/types";
import { asObject, asText } from "./coerce";

const MAX_MESSAGE = 300;

export interface Response {
  status: number;
  /** Parsed where it is JSON, else text. */
  body: unknown;
  retryAfter: string | undefined;
}

/** What an answer other than success means for the next step. */
export function failureOfResponse({ status, body, retryAfter }: Response): CallFailure {
  const said = asText(asObject(body).message) ?? (typeof body === "string" ? body.trim() : "");
  const message = `HTTP ${status}${said === "" ? "" : `: ${said}`}`.slice(0, MAX_MESSAGE);
  return { kind: kindOf(status, said), message, retryAfterMs: retryAfterMs(retryAfter) };
}

function kindOf(status: number, said: string): CallFailure["kind"] {
  if (status === 401 || status === 403) return "denied";
  if (status === 404) return "missing";
  if (status === 409) return "conflict";
  if (status === 429) return /quota/i.test(said) ? "quota" : "throttled";
  return status >= 500 ? "server" : "invalid";
}

/** Whole seconds, as the platform's clients read it; a date is not understood. */
function retryAfterMs(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,6}\s*$/.test(text) ? Number(text) * 1000 : undefined;
}

/**
 * A call without an answer. `sent`: there was a connection, so the platform may have acted on the call. An answer that
 * is no HTTP at all came from something else than the platform.
 */
export function failureOfError(error: NodeJS.ErrnoException, sent: boolean): CallFailure {
  const message = (error.message || error.code || String(error)).slice(0, MAX_MESSAGE);
  if (error.code?.startsWith("HPE_")) return { kind: "invalid", message: `not an HTTP answer: ${message}` };
  return { kind: sent ? "broken" : "unreachable", message };
}
