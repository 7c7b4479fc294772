/** What a kind of resource is to the API. A file in kinds/ exports one as `kind`; nothing else need change. */
import type { LinkEntry } from "../documents/query.ts";
import type { Fields, Problem } from "../documents/schema.ts";
import type { JsonObject, Resource, ResourceKey } from "../model.ts";
import type { Need, PermissionCatalogue } from "../permissions/decide.ts";
import type { ApiContext } from "./context.ts";
import type { Answer, Request } from "./exchange.ts";

export interface ResourceKind {
  readonly kind: string;
  /** Where documents of this kind live; `root` is the org itself. */
  readonly scope: "root" | "org" | "gvc";
  readonly permissions: PermissionCatalogue;
  /** Which writes exist. All of them unless told; another one answers 501. */
  readonly writes?: readonly Write[];
  /** Members besides the envelope. Others are refused. */
  readonly fields: Fields;
  /** Members that clients may send and that are dropped, such as `status`. */
  readonly ignored?: readonly string[];
  readonly checkName?: (name: string) => Problem[];
  /** The document as the platform keeps it. Pure; runs on each write, after the fields were checked. */
  readonly normalise?: (resource: Resource, key: ResourceKey) => Resource;
  /** Rules across fields and documents. Runs on the normalised document. */
  readonly check?: (resource: Resource, before: Resource | undefined, at: CheckContext) => Problem[];
  /** Rights beyond the verb's own, for what this write changes. */
  readonly needs?: (resource: Resource, before: Resource | undefined, at: CheckContext) => Need[];
  /** Full links of the documents that this one holds on to: they can't be deleted meanwhile. */
  readonly references?: (resource: Resource, key: ResourceKey) => string[];
  /** Why this document can't be deleted, beyond what refers to it. */
  readonly undeletable?: (resource: Resource, key: ResourceKey) => string | undefined;
  /** Documents that go with this one. */
  readonly dependents?: (key: ResourceKey, context: ApiContext) => ResourceKey[];
  /** The document as answered: status added, secrets left out. */
  readonly present?: (resource: Resource, key: ResourceKey, context: ApiContext) => JsonObject;
  /** Links besides `self` and, in a GVC, `gvc`. */
  readonly links?: (key: ResourceKey) => LinkEntry[];
  readonly actions?: readonly Action[];
}

export type Write = "create" | "edit" | "delete";

export interface CheckContext {
  readonly key: ResourceKey;
  readonly context: ApiContext;
}

/** A path below a document, such as `deployment/:location`. */
export interface Action {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly permission: string | ((request: Request, context: ApiContext) => string);
  readonly run: (call: ActionCall) => Answer;
}

export interface ActionCall {
  readonly key: ResourceKey;
  readonly resource: Resource;
  readonly params: { readonly [name: string]: string };
  readonly request: Request;
  readonly context: ApiContext;
}
