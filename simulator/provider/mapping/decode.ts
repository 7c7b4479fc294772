/**
 * The API's document back to a program's terms. Where the program's own form (`prior`) means what came back, it stands
 * again: short links, the order of a set, an empty list that the API leaves out.
 */
import { canonical } from "../../src/documents/json.ts";
import type { Json, JsonObject } from "../../src/model.ts";
import { contextOf } from "./encode.ts";
import type { Codec, Context, Field, Fields, Shape } from "./fields.ts";
import type { ResourceKind } from "./kind.ts";
import { equal, equalSets, isObject } from "./values.ts";

type View = "inputs" | "outputs";
type Maybe = Json | undefined;

const take = (document: JsonObject, path: string): Maybe =>
  path.split(".").reduce<Maybe>((place, key) => (isObject(place) ? place[key] : undefined), document);

const isEmpty = (value: Maybe) =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;

const zeroes: Record<Shape["is"], Json> = {
  string: "",
  integer: 0,
  number: 0,
  boolean: false,
  map: {},
  list: [],
  object: {},
};

const stands = (codec: Codec, prior: Json, value: Json, context: Context) =>
  codec.matches?.(prior, value, context) ?? equal(codec.encode(prior, context), value);

/** Elements without an order: each prior one is looked for, and their order kept if they are all there. */
function inPriorOrder(items: Json[], prior: Maybe): Json[] {
  if (!Array.isArray(prior)) return items;
  const distinct = (list: Json[]) => [...new Map(list.map((item) => [canonical(item), item])).values()];
  return equalSets(distinct(items), distinct(prior)) ? prior : items;
}

class Decoder {
  private readonly context: Context;
  private readonly view: View;
  constructor(context: Context, view: View) {
    this.context = context;
    this.view = view;
  }

  fields(fields: Fields, document: JsonObject, prior: JsonObject): JsonObject {
    const result: JsonObject = {};
    for (const [key, field] of Object.entries(fields)) {
      if (this.view === "inputs" && field.computed) continue;
      const value = this.field(
        field,
        take(document, field.wire ?? key) ?? undefined,
        prior[key] ?? undefined,
      );
      if (value !== undefined) result[key] = value;
    }
    return result;
  }

  private field(field: Field, value: Maybe, prior: Maybe): Maybe {
    if (field.notEchoed) return prior;
    if (value === undefined) {
      if (isEmpty(prior)) return prior;
      return this.view === "outputs" && field.filled ? zeroes[field.shape.is] : undefined;
    }
    if (this.view === "inputs" && prior === undefined && equal(value, field.apiDefault ?? undefined))
      return field.apiDefault === undefined ? this.value(field, value, prior) : undefined;
    return this.value(field, value, prior);
  }

  private value(field: Field, value: Json, prior: Maybe): Maybe {
    const { codec, shape } = field;
    const scalar = shape.is !== "object" && !(shape.is === "list" && shape.of.is === "object");
    if (codec !== undefined && scalar && prior !== undefined && stands(codec, prior, value, this.context))
      return prior;
    return this.shape(shape, codec === undefined ? value : codec.decode(value, this.context), field, prior);
  }

  private shape(shape: Shape, value: Json, field: Field, prior: Maybe): Maybe {
    if (shape.is === "object")
      return isObject(value) ? this.fields(shape.fields, value, isObject(prior) ? prior : {}) : value;
    if (shape.is !== "list" || !Array.isArray(value)) return value;
    const priors = Array.isArray(prior) ? prior : [];
    const items = value.map((item, index) => {
      if (field.each !== undefined) return this.element(field.each, item, priors);
      if (shape.of.is !== "object") return item;
      return field.unordered
        ? this.member(shape.of, item, field, priors)
        : this.item(shape.of, item, field, priors[index]);
    });
    return field.unordered ? inPriorOrder(items, prior) : items;
  }

  private item(shape: Shape, value: Json, field: Field, prior: Maybe): Json {
    return this.shape(shape, value, field, prior) ?? null;
  }

  private element(codec: Codec, value: Json, priors: Json[]): Json {
    return (
      priors.find((prior) => stands(codec, prior, value, this.context)) ?? codec.decode(value, this.context)
    );
  }

  private member(shape: Shape, value: Json, field: Field, priors: Json[]): Json {
    const same = priors.find((prior) => equal(this.item(shape, value, field, prior), prior));
    return same ?? this.item(shape, value, field, undefined);
  }
}

export function decodeFields(
  fields: Fields,
  document: JsonObject,
  prior: JsonObject,
  org: string,
  view: View,
) {
  return new Decoder(contextOf(org, prior), view).fields(fields, document, prior);
}

/** Both views of a document: what the program would have written, and all there is to know. */
export function decode(kind: ResourceKind, document: JsonObject, prior: JsonObject, org: string) {
  const opened = kind.open?.(document) ?? document;
  return {
    inputs: decodeFields(kind.fields, opened, prior, org, "inputs"),
    outputs: decodeFields(kind.fields, opened, prior, org, "outputs"),
  };
}
