/** A program's inputs to the document that the API takes. */
import type { Json, JsonObject } from "../../src/model.ts";
import type { Context, Field, Fields, Shape } from "./fields.ts";
import type { ResourceKind } from "./kind.ts";
import { isObject } from "./values.ts";

function put(document: JsonObject, path: string, value: Json) {
  const keys = path.split(".");
  const last = keys.pop() ?? path;
  let place = document;
  for (const key of keys) {
    const next = place[key];
    const inner = isObject(next) ? next : {};
    place[key] = inner;
    place = inner;
  }
  place[last] = value;
}

export function encodeValue(field: Field, value: Json, context: Context): Json {
  const shaped = encodeShape(field.shape, value, field, context);
  return field.codec === undefined ? shaped : field.codec.encode(shaped, context);
}

function encodeShape(shape: Shape, value: Json, field: Field, context: Context): Json {
  if (shape.is === "object") return isObject(value) ? encodeFields(shape.fields, value, context) : value;
  if (shape.is !== "list" || !Array.isArray(value)) return value;
  return value.map((item) =>
    field.each === undefined ? encodeShape(shape.of, item, field, context) : field.each.encode(item, context),
  );
}

function encodeFields(fields: Fields, inputs: JsonObject, context: Context): JsonObject {
  const document: JsonObject = {};
  for (const [key, field] of Object.entries(fields)) {
    const value = inputs[key];
    if (value === undefined || value === null || field.computed || field.notEchoed) continue;
    put(document, field.wire ?? key, encodeValue(field, value, context));
  }
  return document;
}

export const contextOf = (org: string, inputs: JsonObject): Context => ({
  org,
  gvc: typeof inputs.gvc === "string" ? inputs.gvc : undefined,
  inputs,
});

export function encode(kind: ResourceKind, inputs: JsonObject, org: string): JsonObject {
  const document = encodeFields(kind.fields, inputs, contextOf(org, inputs));
  return kind.finish?.(document, inputs) ?? document;
}
