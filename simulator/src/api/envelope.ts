import { randomUUID } from "node:crypto";
import type { JsonObject, Resource } from "../model.ts";

const iso = (time: number): string => new Date(time).toISOString();

/** A first version of a document. */
export function newResource(kind: string, name: string, body: JsonObject, now: number): Resource {
  return {
    id: randomUUID(),
    kind,
    name,
    version: 1,
    description: name,
    tags: {},
    created: iso(now),
    lastModified: iso(now),
    ...body,
  };
}

/** The next version of a document: each accepted write counts. */
export const nextVersion = (before: Resource, body: JsonObject, now: number): Resource => ({
  description: before.description,
  tags: {},
  ...body,
  id: before.id,
  kind: before.kind,
  name: before.name,
  created: before.created,
  version: before.version + 1,
  lastModified: iso(now),
});

/** What the platform writes itself: taken from a client's body without a word, and ignored. */
export const readOnlyMembers = [
  "id",
  "kind",
  "version",
  "created",
  "lastModified",
  "links",
  "gvc",
  "name",
] as const;
