/** Check's part: what the program left out is filled in, what it got wrong is named. Unknown values pass untouched. */
import type { Json, JsonObject } from "../../src/model.ts";
import type { Field, Fields, Shape } from "./fields.ts";
import type { Failure, ResourceKind } from "./kind.ts";
import { isObject, isUnknown } from "./values.ts";

const inputsOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, field]) => !field.computed));

const at = (place: string, property: string) => (place === "" ? property : `${place}.${property}`);

/** Scalars are taken in any spelling that means one thing, as the public provider takes them. */
function scalar(shape: Shape, value: Json): Json {
  if (shape.is === "string" && (typeof value === "number" || typeof value === "boolean"))
    return String(value);
  if (shape.is === "boolean" && (value === "true" || value === "false")) return value === "true";
  if ((shape.is === "integer" || shape.is === "number") && typeof value === "string" && value.trim() !== "") {
    const number = Number(value);
    return Number.isNaN(number) ? value : number;
  }
  return value;
}

function fillShape(shape: Shape, value: Json): Json {
  if (isUnknown(value)) return value;
  if (shape.is === "object") return isObject(value) ? fillFields(shape.fields, value) : value;
  if (shape.is === "list")
    return Array.isArray(value) ? value.map((item) => fillShape(shape.of, item)) : value;
  if (shape.is === "map" && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, scalar({ is: "string" }, item ?? "")]),
    );
  return scalar(shape, value);
}

function fillFields(fields: Fields, inputs: JsonObject): JsonObject {
  const filled: JsonObject = {};
  for (const [key, value] of Object.entries(inputs)) {
    if (value === undefined || value === null) continue;
    const field = fields[key];
    filled[key] = field === undefined ? value : fillShape(field.shape, value);
  }
  for (const [key, field] of Object.entries(fields))
    if (filled[key] === undefined && field.default !== undefined) filled[key] = field.default;
  return filled;
}

/** `name` is settled by the caller: it may have to be made up. */
export function fill(kind: ResourceKind, inputs: JsonObject, name: Json): JsonObject {
  const filled = fillFields(inputsOf(kind.fields), { ...inputs, name });
  const described = { ...filled, description: filled.description ?? name };
  return kind.fill?.(described) ?? described;
}

const article = (is: string) => (is === "integer" || is === "object" ? `an ${is}` : `a ${is}`);

function checkShape(shape: Shape, value: Json, place: string): Failure[] {
  if (isUnknown(value)) return [];
  const wrong = [{ property: place, reason: `${article(shape.is)} is needed here` }];
  switch (shape.is) {
    case "object":
      return isObject(value) ? checkFields(shape.fields, value, place) : wrong;
    case "list":
      return Array.isArray(value)
        ? value.flatMap((item, index) => checkShape(shape.of, item, `${place}[${index}]`))
        : wrong;
    case "map":
      return isObject(value) ? [] : wrong;
    case "integer":
      return Number.isInteger(value) ? [] : wrong;
    default:
      return typeof value === shape.is ? [] : wrong;
  }
}

function checkFields(fields: Fields, inputs: JsonObject, place: string): Failure[] {
  const present = Object.entries(inputs).flatMap(([key, value]) => {
    const field: Field | undefined = fields[key];
    if (field === undefined || field.computed)
      return [{ property: at(place, key), reason: "no such property in the local provider" }];
    if (value === undefined || value === null || isUnknown(value)) return [];
    const reason = field.codec?.refuses?.(value);
    const refused = reason === undefined ? [] : [{ property: at(place, key), reason }];
    return [...checkShape(field.shape, value, at(place, key)), ...refused];
  });
  const missing = Object.entries(fields)
    .filter(([key, field]) => field.required && (inputs[key] === undefined || inputs[key] === null))
    .map(([key]) => ({ property: at(place, key), reason: "a required property is missing" }));
  return [...present, ...missing];
}

const namePattern = /^[a-z][-a-z0-9]+[a-z0-9]$/;

function checkName(name: Json | undefined): Failure[] {
  if (typeof name !== "string" || isUnknown(name)) return [];
  if (!namePattern.test(name))
    return [
      {
        property: "name",
        reason: `"${name}" is no name: at least three of a-z, 0-9 and "-", a letter first, no "-" last`,
      },
    ];
  return name.length > 63 ? [{ property: "name", reason: `"${name}" is longer than 63 characters` }] : [];
}

export function check(kind: ResourceKind, inputs: JsonObject): Failure[] {
  const failures = [...checkName(inputs.name), ...checkFields(inputsOf(kind.fields), inputs, "")];
  return failures.length > 0 ? failures : (kind.check?.(inputs) ?? []);
}
