import type { Json, JsonObject } from "../model.ts";

/** Readers that never throw: a document keeps whatever a client sent, so every step down may find anything. */
export function object(value: unknown): JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function list(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function texts(value: unknown): string[] {
  return list(value).filter((item): item is string => typeof item === "string");
}

/** Numbers arrive as text too (`cpln update --set` sends strings). */
export function number(value: unknown): number | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)))
    return Number(value);
  return undefined;
}

export function boolean(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === "true") return true;
  if (value === "false") return false;
  return undefined;
}

/** `/org/o/location/aws-us-west-2`, `//location/aws-us-west-2` and the bare name all name the same thing. */
export function lastSegment(link: string): string {
  return link.slice(link.lastIndexOf("/") + 1);
}
