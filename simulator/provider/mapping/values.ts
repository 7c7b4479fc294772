/** JSON values as the engine sends them: unknowns at any depth, and equality that ignores absent keys. */
import { canonical } from "../../src/documents/json.ts";
import type { Json, JsonObject } from "../../src/model.ts";

/** What the engine puts where a value is not known yet. The same constant in every SDK. */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export const isUnknown = (value: Json | undefined): boolean => value === unknown;

export function holdsUnknown(value: Json | undefined): boolean {
  if (isUnknown(value)) return true;
  if (Array.isArray(value)) return value.some(holdsUnknown);
  if (value !== null && typeof value === "object") return Object.values(value).some(holdsUnknown);
  return false;
}

export const equal = (a: Json | undefined, b: Json | undefined) => canonical(a) === canonical(b);

/** The same elements, in whatever order. */
export const equalSets = (a: readonly Json[], b: readonly Json[]) =>
  a.length === b.length && equal(a.map(canonical).sort(), b.map(canonical).sort());

export const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);
