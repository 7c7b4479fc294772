import type { ResourceKey } from "../model.ts";

/** Kinds that live in a GVC. Their links carry the GVC. */
export const gvcKinds: readonly string[] = ["workload", "identity", "volumeset", "dbcluster"];

export function selfLink(key: ResourceKey): string {
  if (key.kind === "org") return `/org/${key.name}`;
  return `${homeLink(key)}/${key.name}`;
}

/** The collection a document lives in. */
export function homeLink(key: Omit<ResourceKey, "name">): string {
  if (key.kind === "org") return "/org";
  return key.gvc === undefined ? `/org/${key.org}/${key.kind}` : `/org/${key.org}/gvc/${key.gvc}/${key.kind}`;
}

/**
 * The stored form of a link: `//location/L` becomes `/org/O/location/L`, `//identity/I` takes the GVC of its
 * context when there is one. A link that is full already stays; anything else (a bare name) is undefined.
 */
export function resolveLink(
  link: string,
  context: { org: string; gvc?: string | undefined },
): string | undefined {
  if (/^\/org\/[^/]+(\/[^/]+)*$/.test(link)) return link;
  if (!/^\/\/[^/]+\/[^/]/.test(link)) return undefined;
  const path = link.slice(2);
  const [kind = ""] = path.split("/");
  const inGvc = gvcKinds.includes(kind) && context.gvc !== undefined;
  return inGvc ? `/org/${context.org}/gvc/${context.gvc}/${path}` : `/org/${context.org}/${path}`;
}

/** Which document a full link names. */
export function parseLink(link: string): ResourceKey | undefined {
  const [empty, root, org, ...rest] = link.split("/");
  if (empty !== "" || root !== "org" || !org) return undefined;
  if (rest.length === 0) return { org, kind: "org", name: org };
  const [first, second, third, fourth, ...more] = rest;
  if (!first || !second || more.length > 0) return undefined;
  if (third === undefined) return gvcKinds.includes(first) ? undefined : { org, kind: first, name: second };
  if (first !== "gvc" || !fourth || !gvcKinds.includes(third)) return undefined;
  return { org, gvc: second, kind: third, name: fourth };
}

/** The last segment: how scripts turn `CPLN_LOCATION` and the like into a bare name. */
export const lastSegment = (link: string): string => link.slice(link.lastIndexOf("/") + 1);
