/** One API call, as the recorder keeps it and as faults see it. */
import type { Json, JsonObject } from "../model.ts";

export interface CallRecord {
  readonly id: number;
  /** Simulator time, in milliseconds: when it came, when it was applied, when its answer left. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly query: { readonly [name: string]: string };
  readonly headerForm: "none" | "raw" | "bearer";
  readonly remoteAddress: string;
  readonly userAgent: string | undefined;
  readonly body: Json | undefined;
  /** `patch workload`, once it is known what it is. */
  operation?: string;
  /** Full link of who calls, or `anonymous`; undefined until authenticated. */
  principal?: string;
  /** `open`: no answer yet. `cut`: stopped by the caller's own sidecar. `gone`: the caller left first. */
  outcome: "open" | "answered" | "reset" | "cut" | "gone";
  status?: number;
  answer?: JsonObject | undefined;
  appliedAt?: number;
  answeredAt?: number;
  /** Applied after its caller had been answered or had left. */
  late?: boolean;
  /** Answered 501: something that this simulator does not do. */
  notImplemented?: boolean;
}

/** Which calls are meant. Everything given must fit; a text path must be equal, a RegExp must match. */
export interface CallMatch {
  method?: string | readonly string[];
  path?: string | RegExp;
  principal?: string | RegExp;
  operation?: string;
  where?: (call: CallRecord) => boolean;
}

export function matchesCall(match: CallMatch, call: CallRecord): boolean {
  const { method, path, principal, operation, where } = match;
  if (method !== undefined && ![method].flat().includes(call.method)) return false;
  if (!fits(path, call.path) || !fits(principal, call.principal) || !fits(operation, call.operation))
    return false;
  return where?.(call) ?? true;
}

const fits = (wanted: string | RegExp | undefined, actual: string | undefined): boolean =>
  wanted === undefined ||
  (actual !== undefined && (typeof wanted === "string" ? wanted === actual : wanted.test(actual)));
