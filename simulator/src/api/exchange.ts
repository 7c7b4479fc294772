import type { Json, JsonObject } from "../model.ts";
import type { Need, Principal } from "../permissions/decide.ts";

/** A call as it came in. */
export interface Request {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: { readonly [name: string]: string };
  readonly authorization: string | undefined;
  readonly remoteAddress: string;
  /** The parsed body; undefined when there was none. */
  readonly body: Json | undefined;
  /** Set when there was a body that is no JSON. */
  readonly unreadable: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body?: JsonObject | undefined;
  readonly headers?: { readonly [name: string]: string };
}

/** What a route resolves to. The stages of the pipeline call these in order; see pipeline.ts. */
export interface Operation {
  /** `patch workload`, for the record. */
  readonly name: string;
  /** Open to anybody, even without a token. */
  readonly open?: boolean;
  /** The right that the verb itself asks for. */
  readonly need?: () => Need | undefined;
  /** Checks everything and writes nothing. */
  readonly plan: (principal: Principal) => Plan;
}

export interface Plan {
  /** Rights that this very change asks for, beyond the verb's. */
  readonly needs: readonly Need[];
  /** Writes, and answers. */
  readonly commit: () => Answer;
}

export const readOnly = (answer: () => Answer): Plan => ({ needs: [], commit: answer });
