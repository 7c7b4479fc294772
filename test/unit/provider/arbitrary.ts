/** Inputs that a table admits, for properties that hold of every kind. */
import fc from "fast-check";
import {
  ipSetLink,
  jsonText,
  link,
  locationName,
  secretName,
} from "../../../simulator/provider/mapping/codecs.ts";
import type { Codec, Field, Fields, Shape } from "../../../simulator/provider/mapping/fields.ts";
import type { ResourceKind } from "../../../simulator/provider/mapping/kind.ts";
import type { Json, JsonObject } from "../../../simulator/src/model.ts";

export const name = fc.stringMatching(/^[a-z][a-z0-9-]{1,8}[a-z0-9]$/);
const word = fc.oneof(name, fc.string({ minLength: 1, maxLength: 8 }));

const forms = new Map<Codec, fc.Arbitrary<Json>>([
  [
    jsonText,
    fc.dictionary(fc.string(), fc.json(), { maxKeys: 2 }).map((value) => JSON.stringify(value, undefined, 1)),
  ],
  [link, name.chain((own) => fc.constantFrom(`//gvc/g/workload/${own}`, `/org/acme/gvc/g/workload/${own}`))],
  [ipSetLink, name.chain((own) => fc.constantFrom(own, `/org/acme/ipset/${own}`, `//ipset/${own}`))],
  [locationName, name],
  [secretName, name],
]);

const known = (codec: Codec | undefined) => (codec === undefined ? undefined : forms.get(codec));

function ofShape(shape: Shape, field: Field): fc.Arbitrary<Json> {
  switch (shape.is) {
    case "string":
      return word;
    case "integer":
      return fc.integer({ min: 0, max: 65_535 });
    case "number":
      return fc.integer({ min: 0, max: 100 });
    case "boolean":
      return fc.boolean();
    case "map":
      return fc.dictionary(word, word, { maxKeys: 3 }) as fc.Arbitrary<Json>;
    case "object":
      return ofFields(shape.fields);
    case "list": {
      const element = known(field.each) ?? (field.each === undefined ? ofShape(shape.of, field) : name);
      const wrapped = field.codec !== undefined && shape.of.is === "object";
      const length = wrapped ? { minLength: 1, maxLength: 1 } : { maxLength: 3 };
      return field.unordered
        ? fc.uniqueArray(element, { ...length, selector: (item) => JSON.stringify(item) })
        : fc.array(element, length);
    }
  }
}

export function ofFields(fields: Fields): fc.Arbitrary<JsonObject> {
  const inputs = Object.entries(fields).filter(([, field]) => !field.computed);
  const requiredKeys = inputs.filter(([, field]) => field.required).map(([key]) => key);
  const entries = inputs.map(([key, field]) => [key, known(field.codec) ?? ofShape(field.shape, field)]);
  return fc.record(Object.fromEntries(entries), { requiredKeys }) as fc.Arbitrary<JsonObject>;
}

/** What a program may write for a kind, its name included. */
export const inputsOf = (kind: ResourceKind): fc.Arbitrary<JsonObject> =>
  fc.tuple(ofFields(kind.fields), name, name).map(([inputs, own, gvc]) => ({
    ...inputs,
    name: own,
    ...(kind.scope === "gvc" ? { gvc } : {}),
  }));

/** The document as the platform answers it: an identity and links added, short links resolved, sets sorted. */
export function answered(document: JsonObject, kind: ResourceKind): JsonObject {
  return {
    ...(resolved(document) as JsonObject),
    id: "3b0e2e58-0000-4000-8000-000000000000",
    version: 1,
    links: [{ rel: "self", href: `/org/acme/${kind.kind}/${document.name}` }],
  };
}

const sortedKeys = [
  "inboundAllowCIDR",
  "outboundAllowCIDR",
  "locationLinks",
  "permissions",
  "principalLinks",
];

function resolved(value: Json | undefined, key?: string): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => resolved(item));
    return key !== undefined && sortedKeys.includes(key) ? [...items].sort() : items;
  }
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolved(item, name)]));
  if (typeof value === "string" && value.startsWith("//gvc/")) return `/org/acme${value.slice(1)}`;
  return value ?? null;
}
