import type { Json, JsonObject } from "../model.ts";
import { asArray, isObject } from "./json.ts";

/**
 * PATCH as the platform documents it. Objects merge deeply, scalars and plain arrays replace, `null` removes.
 *
 *   $drop: [key…]            removes keys of this object
 *   $replace/<p>: value      sets p without merging
 *   $append/<p>: [item…]     adds to an array
 *   $drop/<p>: [key…]        removes array items by key (or by value)
 *   $retain/<p>: [key…]      keeps only those
 *   $patch/<p>: [item…]      merges each item into the one with its key (which may nest operators), or adds it
 *
 * An item's key is its `name`, else `location`, `number`, `externalPort` or `key`: the last three are guesses, kept
 * for arrays that have no names.
 */
export interface PatchOptions {
  /** Plain arrays at these property names merge by key instead of replacing (an open point: `localOptions`). */
  mergeArrays?: readonly string[];
}

export class PatchError extends Error {}

const keyNames = ["name", "location", "number", "externalPort", "key"] as const;

export function applyPatch(document: JsonObject, patch: JsonObject, options: PatchOptions = {}): JsonObject {
  return mergeObject(document, patch, options, "");
}

function mergeObject(before: JsonObject, patch: JsonObject, options: PatchOptions, path: string): JsonObject {
  const result: JsonObject = { ...before };
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (key === "$drop") {
      for (const name of textsOf(value, `${path}$drop`)) delete result[name];
    } else if (key.startsWith("$")) {
      applyOperator(result, key, value, options, path);
    } else if (value === null) {
      delete result[key];
    } else {
      result[key] = mergeValue(result[key], value, options, path, key);
    }
  }
  return result;
}

function mergeValue(
  before: Json | undefined,
  value: Json,
  options: PatchOptions,
  path: string,
  key: string,
): Json {
  if (isObject(value)) return mergeObject(isObject(before) ? before : {}, value, options, `${path}${key}.`);
  if (Array.isArray(value) && options.mergeArrays?.includes(key)) {
    return patchItems(asArray(before), value, options, `${path}${key}`);
  }
  return value;
}

function applyOperator(
  result: JsonObject,
  key: string,
  value: Json,
  options: PatchOptions,
  path: string,
): void {
  const slash = key.indexOf("/");
  const operator = slash < 0 ? key : key.slice(0, slash);
  const property = slash < 0 ? "" : key.slice(slash + 1);
  const where = `${path}${key}`;
  if (property === "") throw new PatchError(`"${where}" is not an operator`);
  const before = asArray(result[property]);
  switch (operator) {
    case "$replace":
      if (value === null) delete result[property];
      else result[property] = value;
      return;
    case "$append":
      result[property] = [...before, ...itemsOf(value, where)];
      return;
    case "$drop": {
      const keys = itemsOf(value, where);
      result[property] = before.filter((item) => !keys.some((wanted) => hasKey(item, wanted)));
      return;
    }
    case "$retain": {
      const keys = itemsOf(value, where);
      result[property] = before.filter((item) => keys.some((wanted) => hasKey(item, wanted)));
      return;
    }
    case "$patch":
      result[property] = patchItems(before, itemsOf(value, where), options, where);
      return;
    default:
      throw new PatchError(`"${where}" is not an operator`);
  }
}

function patchItems(before: Json[], patches: Json[], options: PatchOptions, where: string): Json[] {
  const result = [...before];
  for (const patch of patches) {
    const key = isObject(patch) ? keyOf(patch) : undefined;
    if (!isObject(patch) || key === undefined) throw new PatchError(`"${where}" needs items with a key`);
    const index = result.findIndex((item) => hasKey(item, key));
    const base = index < 0 ? {} : (result[index] as JsonObject);
    const merged = mergeObject(base, patch, options, `${where}.`);
    if (index < 0) result.push(merged);
    else result[index] = merged;
  }
  return result;
}

function keyOf(item: JsonObject): Json | undefined {
  for (const name of keyNames) if (item[name] !== undefined) return item[name];
  return undefined;
}

const hasKey = (item: Json, wanted: Json): boolean =>
  item === wanted || (isObject(item) && String(keyOf(item)) === String(wanted));

function itemsOf(value: Json, where: string): Json[] {
  if (!Array.isArray(value)) throw new PatchError(`"${where}" must be an array`);
  return value;
}

function textsOf(value: Json, where: string): string[] {
  return itemsOf(value, where).map((item) => String(item));
}
