/** JSON to and from the protocol's Struct, and secrets marked on the way out. */
import structs from "google-protobuf/google/protobuf/struct_pb.js";
import type { Json, JsonObject } from "../../src/model.ts";
import type { Fields, Shape } from "../mapping/fields.ts";
import { isObject } from "../mapping/values.ts";

type Struct = structs.Struct;

/** The engine's own marks: the key that says "special", and what it says of a secret. */
const signature = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** The provider's own settings come with their secrets marked whatever was agreed. */
function revealed(value: Json): Json {
  if (Array.isArray(value)) return value.map(revealed);
  if (!isObject(value)) return value;
  if (value[signature] === secretSignature) return revealed(value.value ?? null);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revealed(item ?? null)]));
}

export const fromStruct = (struct: Struct | undefined): JsonObject => {
  const value = revealed((struct?.toJavaScript() ?? {}) as JsonObject);
  return isObject(value) ? value : {};
};

/** A Struct has no `undefined`. */
function defined(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map(defined);
  if (!isObject(value)) return value ?? null;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, defined(item)]),
  );
}

export const toStruct = (value: JsonObject): Struct =>
  structs.Struct.fromJavaScript(defined(value) as Parameters<typeof structs.Struct.fromJavaScript>[0]);

/** Outputs whose table says secret are marked, whether or not the program marked its input. */
export function sealed(fields: Fields, values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const field = fields[key];
      if (field === undefined || value === undefined || value === null) return [key, value];
      if (field.secret) return [key, { [signature]: secretSignature, value }];
      return [key, sealedShape(field.shape, value)];
    }),
  );
}

function sealedShape(shape: Shape, value: Json): Json {
  if (shape.is === "object" && isObject(value)) return sealed(shape.fields, value);
  if (shape.is === "list" && Array.isArray(value)) return value.map((item) => sealedShape(shape.of, item));
  return value;
}
