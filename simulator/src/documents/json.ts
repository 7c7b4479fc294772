import type { Json, JsonObject } from "../model.ts";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const asArray = (value: unknown): Json[] => (Array.isArray(value) ? value : []);

export const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The texts of an array; anything else in it is left out. */
export const asTexts = (value: unknown): string[] =>
  asArray(value).filter((item): item is string => typeof item === "string");

/** The value at a dotted path, or undefined. */
export function at(value: unknown, path: string): Json | undefined {
  let here: unknown = value;
  for (const step of path.split(".")) {
    if (Array.isArray(here)) here = here[Number(step)];
    else if (isObject(here)) here = here[step];
    else return undefined;
  }
  return here as Json | undefined;
}

/** Equality of what JSON would say: key order and undefined members don't count. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameJson(a[key], b[key]));
}

/** A copy without the members named, and without undefined ones. */
export function without(object: JsonObject, ...names: string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => value !== undefined && !names.includes(name)),
  );
}

/** JSON with sorted keys and without undefined members, so that the same content always has the same text. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}
