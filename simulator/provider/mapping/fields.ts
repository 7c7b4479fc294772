/**
 * A resource kind is one table of fields. Everything else follows from it: the schema, the SDK's types, what Check
 * fills in and refuses, the document sent, and the inputs and outputs read back.
 */
import type { Json, JsonObject } from "../../src/model.ts";

export type Fields = { readonly [property: string]: Field };

export type Shape =
  | { readonly is: "string" | "integer" | "number" | "boolean" | "map" }
  | { readonly is: "list"; readonly of: Shape }
  | { readonly is: "object"; readonly type: string; readonly fields: Fields };

/** Where a value stands and whom it belongs to: what link forms are relative to. */
export interface Context {
  org: string;
  /** The GVC that the resource is in, or that its inputs name. */
  gvc?: string | undefined;
  /** The whole resource's inputs, for fields whose form depends on a neighbour. */
  inputs: JsonObject;
}

/** How one value goes into a document and comes back, where it is not simply copied. */
export interface Codec {
  encode(value: Json, context: Context): Json;
  decode(value: Json, context: Context): Json;
  /** Whether the program's own form `prior` may stand again for what came back; unless said, when it encodes to it. */
  matches?(prior: Json, value: Json, context: Context): boolean;
  /** Why a program may not write this, if so. */
  refuses?(value: Json): string | undefined;
}

export interface FieldOptions {
  /** The program must give it. */
  required?: boolean;
  /** Always present in outputs, given or not. */
  filled?: boolean;
  /** Only ever an output. */
  computed?: boolean;
  secret?: boolean;
  /** Dotted place in the parent's document; the property's own name unless said. */
  wire?: string;
  /** Put into the inputs by Check when the program leaves the property out. */
  default?: Json;
  /** What the API itself fills in: read back as absent when the program left the property out. */
  apiDefault?: Json;
  /** The API keeps the elements in an order of its own. */
  unordered?: boolean;
  /** The API never answers with it: the recorded input is carried forward. */
  notEchoed?: boolean;
  codec?: Codec;
  /** The same for each element of a list. */
  each?: Codec;
}

export interface Field extends FieldOptions {
  readonly shape: Shape;
}

const of =
  (shape: Shape) =>
  (options: FieldOptions = {}): Field => ({ ...options, shape });

export const text = of({ is: "string" });
export const integer = of({ is: "integer" });
export const decimal = of({ is: "number" });
export const flag = of({ is: "boolean" });
export const map = of({ is: "map" });
export const texts = of({ is: "list", of: { is: "string" } });

/** A nested object; `type` is its name in the schema. */
export const block = (type: string, fields: Fields, options: FieldOptions = {}): Field => ({
  ...options,
  shape: { is: "object", type, fields },
});

export const blocks = (type: string, fields: Fields, options: FieldOptions = {}): Field => ({
  ...options,
  shape: { is: "list", of: { is: "object", type, fields } },
});
