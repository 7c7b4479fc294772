import type { JsonObject } from "../model.ts";

/** What the caller got wrong: answered as a 400. */
export class Refusal extends Error {}

export function text(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value !== "string" || value === "") throw new Refusal(`needs "${name}"`);
  return value;
}

export function number(body: JsonObject, name: string): number {
  const value = body[name];
  if (typeof value !== "number") throw new Refusal(`needs the number "${name}"`);
  return value;
}

/** Members that may be absent, but have a type when present. */
export function optionalText(body: JsonObject, name: string): string | undefined {
  return body[name] === undefined ? undefined : text(body, name);
}

export function optionalNumber(body: JsonObject, name: string): number | undefined {
  return body[name] === undefined ? undefined : number(body, name);
}

export function choice<T extends string>(
  body: JsonObject,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  const found = choices.find((one) => one === value);
  if (found === undefined) throw new Refusal(`"${name}" must be one of ${choices.join(", ")}`);
  return found;
}
