/** What changed between two sets of inputs, path by path, in the engine's notation. */
import { canonical } from "../../src/documents/json.ts";
import type { Json, JsonObject } from "../../src/model.ts";
import type { Field, Fields, Shape } from "./fields.ts";
import type { ResourceKind } from "./kind.ts";
import { equal, isObject } from "./values.ts";

export type ChangeKind = "add" | "delete" | "update";
export interface Change {
  path: string;
  /** The top-level property it is in. */
  property: string;
  kind: ChangeKind;
  replace: boolean;
}

type Found = Pick<Change, "path" | "kind">;

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;
const step = (place: string, key: string) =>
  identifier.test(key) ? `${place}${place === "" ? "" : "."}${key}` : `${place}[${JSON.stringify(key)}]`;

const absent = (value: Json | undefined) => value === undefined || value === null;

function compare(
  shape: Shape | undefined,
  field: Field | undefined,
  before: Json | undefined,
  after: Json | undefined,
  path: string,
): Found[] {
  if (absent(before)) return absent(after) ? [] : [{ path, kind: "add" }];
  if (absent(after)) return [{ path, kind: "delete" }];
  if (isObject(before) && isObject(after))
    return compareObjects(shape?.is === "object" ? shape.fields : {}, before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) {
    if (field?.unordered) return compareSets(before, after, path);
    const of = shape?.is === "list" ? shape.of : undefined;
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, index) => index).flatMap((index) =>
      compare(of, undefined, before[index], after[index], `${path}[${index}]`),
    );
  }
  return equal(before, after) ? [] : [{ path, kind: "update" }];
}

function compareObjects(fields: Fields, before: JsonObject, after: JsonObject, path: string): Found[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) =>
    compare(fields[key]?.shape, fields[key], before[key], after[key], step(path, key)),
  );
}

function compareSets(before: Json[], after: Json[], path: string): Found[] {
  const missing = (from: Json[], other: Json[], kind: ChangeKind): Found[] => {
    const there = new Set(other.map(canonical));
    return from.flatMap((item, index) =>
      there.has(canonical(item)) ? [] : [{ path: `${path}[${index}]`, kind }],
    );
  };
  const removed = missing(before, after, "delete");
  const added = missing(after, before, "add");
  const places = new Set(added.map((change) => change.path));
  const updated = removed.filter((change) => places.has(change.path)).map((change) => change.path);
  return [...removed, ...added]
    .filter((change) => !updated.includes(change.path))
    .concat(updated.map((place) => ({ path: place, kind: "update" as const })))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Throws where the kind refuses the change. */
export function diff(
  kind: Pick<ResourceKind, "fields" | "replaceOn" | "replaces">,
  before: JsonObject,
  after: JsonObject,
): Change[] {
  const properties = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return properties.flatMap((property) => {
    const field = kind.fields[property];
    const found = compare(field?.shape, field, before[property], after[property], step("", property));
    if (found.length === 0) return [];
    const replace = kind.replaceOn.includes(property) || (kind.replaces?.(property, before, after) ?? false);
    return found.map((change) => ({ ...change, property, replace }));
  });
}
