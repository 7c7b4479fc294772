/** Documents as the API answers them. */
import { homeLink, selfLink } from "../documents/links.ts";
import type { LinkEntry } from "../documents/query.ts";
import type { JsonObject, Resource, ResourceKey } from "../model.ts";
import type { ApiContext } from "./context.ts";
import type { ResourceKind } from "./resource-kind.ts";

export function linksOf(kind: ResourceKind, key: ResourceKey): LinkEntry[] {
  return [
    { rel: "self", href: selfLink(key) },
    ...(kind.scope === "root" ? [] : [{ rel: "org", href: `/org/${key.org}` }]),
    ...(key.gvc === undefined ? [] : [{ rel: "gvc", href: `/org/${key.org}/gvc/${key.gvc}` }]),
    ...(kind.links?.(key) ?? []),
  ];
}

export function present(
  kind: ResourceKind,
  key: ResourceKey,
  resource: Resource,
  context: ApiContext,
): JsonObject {
  const document = kind.present?.(resource, key, context) ?? resource;
  return { ...document, links: linksOf(kind, key) };
}

export const list = (itemKind: string, items: JsonObject[], href: string): JsonObject => ({
  kind: "list",
  itemKind,
  items,
  links: [{ rel: "self", href }],
});

export const presentList = (
  kind: ResourceKind,
  scope: Omit<ResourceKey, "name">,
  items: { key: ResourceKey; resource: Resource }[],
  context: ApiContext,
): JsonObject =>
  list(
    kind.kind,
    items.map((item) => present(kind, item.key, item.resource, context)),
    homeLink(scope),
  );
