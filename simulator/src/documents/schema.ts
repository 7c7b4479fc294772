/**
 * A small validator in the manner of the platform's (Joi): it coerces texts to booleans and numbers, refuses
 * members it does not know, and reports every problem with its path.
 */
import type { Json, JsonObject } from "../model.ts";
import { isObject } from "./json.ts";

export interface Problem {
  path: string;
  message: string;
}

/** Answers the coerced value; problems are pushed. */
export type Schema = (value: Json, path: string, problems: Problem[]) => Json;

export interface Field {
  schema: Schema;
  required: boolean;
}
export type Fields = { [name: string]: Schema | Field };

export const required = (schema: Schema): Field => ({ schema, required: true });

const fail = (problems: Problem[], path: string, message: string): void =>
  void problems.push({ path, message: `"${path}" ${message}` });

export const anything: Schema = (value) => value;

export const bool: Schema = (value, path, problems) => {
  if (typeof value === "boolean") return value;
  if (typeof value === "string" && /^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  fail(problems, path, "must be a boolean");
  return value;
};

export function int(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): Schema {
  return (value, path, problems) => {
    const number = typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isFinite(number)) fail(problems, path, "must be a number");
    else if (!Number.isInteger(number)) fail(problems, path, "must be an integer");
    else if (number < min) fail(problems, path, `must be greater than or equal to ${min}`);
    else if (number > max) fail(problems, path, `must be less than or equal to ${max}`);
    return number;
  };
}

export function text(rules: { max?: number; min?: number; pattern?: RegExp; hint?: string } = {}): Schema {
  return (value, path, problems) => {
    const { max, min, pattern, hint } = rules;
    if (typeof value !== "string") fail(problems, path, "must be a string");
    else if (min !== undefined && value.length < min)
      fail(problems, path, `length must be at least ${min} characters long`);
    else if (max !== undefined && value.length > max)
      fail(problems, path, `length must be less than or equal to ${max} characters long`);
    else if (pattern && !pattern.test(value))
      fail(problems, path, hint ?? `fails to match the pattern ${pattern}`);
    return value;
  };
}

export function oneOf(...choices: string[]): Schema {
  return (value, path, problems) => {
    if (!choices.some((choice) => choice === value))
      fail(problems, path, `must be one of [${choices.join(", ")}]`);
    return value;
  };
}

export function list(item: Schema, rules: { min?: number; max?: number; unique?: boolean } = {}): Schema {
  return (value, path, problems) => {
    if (!Array.isArray(value)) {
      fail(problems, path, "must be an array");
      return value;
    }
    const { min = 0, max, unique } = rules;
    if (value.length < min) fail(problems, path, `must contain at least ${min} items`);
    if (max !== undefined && value.length > max) {
      fail(problems, path, `must contain less than or equal to ${max} items`);
    }
    if (unique) {
      value.forEach((one, index) => {
        if (value.indexOf(one) < index) fail(problems, `${path}[${index}]`, "contains a duplicate value");
      });
    }
    return value.map((one, index) => item(one, `${path}[${index}]`, problems));
  };
}

/** An object whose keys are free, such as tags. */
export function record(item: Schema, rules: { max?: number } = {}): Schema {
  return (value, path, problems) => {
    if (!isObject(value)) {
      fail(problems, path, "must be of type object");
      return value;
    }
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null);
    if (rules.max !== undefined && entries.length > rules.max) {
      fail(problems, path, `must have less than or equal to ${rules.max} keys`);
    }
    return Object.fromEntries(
      entries.map(([key, inner]) => [key, item(inner as Json, `${path}.${key}`, problems)]),
    );
  };
}

/** An object with known members. A null member counts as absent, as it does in a PATCH. */
export function shape(fields: Fields): Schema {
  return (value, path, problems) => {
    if (isObject(value)) return checkShape(fields, value, path, problems);
    fail(problems, path, "must be of type object");
    return value;
  };
}

export function checkShape(fields: Fields, value: JsonObject, path: string, problems: Problem[]): JsonObject {
  const result: JsonObject = {};
  const under = (name: string) => (path === "" ? name : `${path}.${name}`);
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined || inner === null) continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      fail(problems, under(name), "is not allowed");
      continue;
    }
    const schema = typeof field === "function" ? field : field.schema;
    result[name] = schema(inner, under(name), problems);
  }
  for (const [name, field] of Object.entries(fields)) {
    if (typeof field !== "function" && field.required && result[name] === undefined && !(name in result)) {
      fail(problems, under(name), "is required");
    }
  }
  return result;
}
