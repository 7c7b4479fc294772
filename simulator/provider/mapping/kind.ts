/** What one file in `resources/` says about its kind. */
import type { JsonObject } from "../../src/model.ts";
import type { Fields } from "./fields.ts";

/** A property that Check refuses, and why. */
export interface Failure {
  property: string;
  reason: string;
}

export interface ResourceKind {
  readonly token: string;
  /** The class in the SDK. */
  readonly name: string;
  /** The kind's segment in an API path. */
  readonly kind: string;
  /** Whether it lives in a GVC: then inputs hold `gvc` and an import names `GVC:NAME`. */
  readonly scope: "org" | "gvc";
  readonly fields: Fields;
  /** Added to an item's path to read it. */
  readonly readSuffix?: string;
  /** Defaults that depend on other properties. Never touches what it cannot know. */
  fill?(inputs: JsonObject): JsonObject;
  check?(inputs: JsonObject): Failure[];
  /** Top-level properties whose change means a new resource. */
  readonly replaceOn: readonly string[];
  /** Replacement that depends on the values. Throws where the change is refused. */
  replaces?(property: string, before: JsonObject, after: JsonObject): boolean;
  /** The PATCH body of an update, from the document a create would send. */
  patch(document: JsonObject): JsonObject;
  /** A last touch to the document sent. */
  finish?(document: JsonObject, inputs: JsonObject): JsonObject;
  /** A first touch to the document read. */
  open?(document: JsonObject): JsonObject;
}

export interface Lookup {
  readonly token: string;
  readonly name: string;
  readonly arguments: Fields;
  readonly result: Fields;
  path(args: JsonObject, org: string): string;
}
