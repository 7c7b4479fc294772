import { randomUUID } from "node:crypto";
import type { JsonObject, Resource } from "../model.ts";

const iso = (time: number): string => new Date(time).toISOString();

/** A first version of a document. */
export const newResource = (kind: string, name: string, body: JsonObject, now: number): Resource => ({
  id: randomUUID(),
  kind,
  name,
  version: 1,
  description: name,
  tags: {},
  created: iso(now),
  lastModified: iso(now),
  ...body,
});

/** The next version of a document: each accepted write counts. `body` holds nothing that the platform writes. */
export const nextVersion = (before: Resource, body: JsonObject, now: number): Resource => ({
  id: before.id,
  kind: before.kind,
  name: before.name,
  version: before.version + 1,
  description: before.description,
  tags: {},
  created: before.created,
  lastModified: iso(now),
  ...body,
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
