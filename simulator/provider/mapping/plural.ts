/**
 * A lookup's result follows from its resource's table, in the shape that data sources have in the public provider:
 * every block is a list under a plural name, and every attribute is present.
 */
import { wrapped } from "./codecs.ts";
import type { Field, Fields, Shape } from "./fields.ts";

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const plural = (name: string) =>
  name.endsWith("s")
    ? name
    : name.endsWith("y")
      ? `${name.slice(0, -1)}ies`
      : name.endsWith("f")
        ? `${name.slice(0, -1)}ves`
        : `${name}s`;
const singular = (name: string) =>
  name.endsWith("statuses")
    ? name.slice(0, -2)
    : name.endsWith("ies")
      ? `${name.slice(0, -3)}y`
      : name.replace(/s$/, "");

/** `blocks`: whether nested objects are blocks, absent when nobody set them; those of a status never are. */
export function pluralised(fields: Fields, type: string, blocks = true): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => pluralField(name, field, type, blocks)),
  );
}

function pluralField(name: string, field: Field, type: string, blocks: boolean): [string, Field] {
  const { required: _, default: __, ...rest } = field;
  const objectIn = (shape: Shape) => (shape.is === "list" ? shape.of : shape);
  const inner = objectIn(field.shape);
  if (inner.is !== "object") return [name, { ...rest, filled: true }];
  const innerType = type + capital(singular(name));
  const shape: Shape = {
    is: "list",
    of: {
      is: "object",
      type: innerType,
      fields: pluralised(inner.fields, innerType, blocks && !field.computed),
    },
  };
  const isList = field.shape.is === "list";
  const filled = !blocks || field.computed === true;
  return [
    plural(name),
    {
      ...rest,
      wire: field.wire ?? name,
      shape,
      ...(filled ? { filled } : {}),
      ...(isList ? {} : { codec: wrapped }),
    },
  ];
}
