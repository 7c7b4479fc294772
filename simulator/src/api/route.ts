/**
 * Which operation a call asks for. Paths:
 *
 *   /discovery
 *   /org, /org/O, and below an org:
 *     K                 a kind's collection (for a GVC's kinds: over all GVCs, read only)
 *     K/-query, K/-schema/permissions
 *     K/N               an item, K/N/-eventlog, K/N/<what its kind adds>
 *     gvc/G/K…          the same for the kinds of a GVC
 *   /-remote/L/replicas/<workload>   the replicas of one location, at the `status.remote` of its deployment
 *
 * Anything else is a 501: this Control Plane never pretends.
 */
import type { ResourceKey } from "../model.ts";
import type { ApiContext } from "./context.ts";
import { invalid, notFound, notImplemented } from "./errors.ts";
import type { Operation, Request } from "./exchange.ts";
import { remove } from "./operations/delete.ts";
import { discovery, replicas } from "./operations/misc.ts";
import { act, eventLog, getItem, getList, type Home, permissionsSchema, query } from "./operations/read.ts";
import { create, patch, upsert } from "./operations/write.ts";
import type { ResourceKind, Write } from "./resource-kind.ts";

export function route(request: Request, context: ApiContext): Operation {
  const operation = find(request, context);
  if (!operation) throw notImplemented(`${request.method} ${request.path}`);
  return operation;
}

function find(request: Request, context: ApiContext): Operation | undefined {
  const [first, ...rest] = request.path.split("/").filter((segment) => segment !== "");
  if (first === "discovery" && rest.length === 0 && request.method === "GET") return discovery();
  if (first === "-remote" && rest[1] === "replicas" && request.method === "GET") {
    return replicas(rest[0] ?? "", rest.slice(2), context);
  }
  if (first === "replicas" && request.method === "GET") return replicas(undefined, rest, context);
  if (first !== "org") return undefined;
  const [org, ...below] = rest;
  const orgKind = context.kinds.get("org");
  if (!orgKind) return undefined;
  if (org === undefined) return inHome(orgKind, { org: "", kind: "org" }, [], request, context);
  if (!context.orgs.includes(org)) throw notFound(`/org/${org}`);
  if (below.length === 0 || below[0]?.startsWith("-")) {
    return onItem(orgKind, { org, kind: "org", name: org }, below, request, context);
  }
  return belowOrg(org, below, request, context);
}

function belowOrg(org: string, path: string[], request: Request, context: ApiContext): Operation | undefined {
  const [kindName = "", name, inner, ...rest] = path;
  const nested =
    kindName === "gvc" && name !== undefined && inner !== undefined ? context.kinds.get(inner) : undefined;
  if (nested?.scope === "gvc" && name !== undefined) {
    return inHome(nested, { org, gvc: name, kind: nested.kind }, rest, request, context);
  }
  const kind = context.kinds.get(kindName);
  if (!kind || kind.scope === "root") return undefined;
  return inHome(kind, { org, kind: kind.kind }, path.slice(1), request, context);
}

function inHome(kind: ResourceKind, home: Home, path: string[], request: Request, context: ApiContext) {
  const [name, ...rest] = path;
  /** `/org/O/workload` lists over all GVCs; items live below their GVC alone. */
  const overAll = kind.scope === "gvc" && home.gvc === undefined;
  if (name === undefined) {
    if (request.method === "GET") return getList(kind, home, context);
    if (overAll) return undefined;
    if (request.method === "POST") return writable(kind, "create") && create(kind, home, request, context);
    if (request.method === "PUT")
      return writable(kind, "create") && upsertByName(kind, home, request, context);
    return undefined;
  }
  if (name === "-query" && rest.length === 0 && request.method === "POST")
    return query(kind, home, request, context);
  if (name === "-schema" && rest[0] === "permissions" && rest.length === 1 && request.method === "GET") {
    return permissionsSchema(kind, home.org);
  }
  if (name.startsWith("-") || overAll) return undefined;
  return onItem(kind, { ...home, name }, rest, request, context);
}

function upsertByName(kind: ResourceKind, home: Home, request: Request, context: ApiContext): Operation {
  const { body } = request;
  const name = typeof body === "object" && body !== null && !Array.isArray(body) ? body.name : undefined;
  if (typeof name !== "string" || name === "") throw invalid('"name" is required');
  return upsert(kind, { ...home, name }, request, context);
}

function onItem(kind: ResourceKind, key: ResourceKey, path: string[], request: Request, context: ApiContext) {
  if (path.length > 0) return onSubPath(kind, key, path, request, context);
  switch (request.method) {
    case "GET":
      return getItem(kind, key, context);
    case "PATCH":
      return writable(kind, "edit") && patch(kind, key, request, context);
    case "PUT":
      return (
        writable(kind, context.store.get(key) ? "edit" : "create") && upsert(kind, key, request, context)
      );
    case "DELETE":
      return writable(kind, "delete") && remove(kind, key, context);
    default:
      return undefined;
  }
}

function onSubPath(
  kind: ResourceKind,
  key: ResourceKey,
  path: string[],
  request: Request,
  context: ApiContext,
) {
  if (path.length === 1 && path[0] === "-eventlog" && request.method === "GET")
    return eventLog(kind, key, context);
  for (const action of kind.actions ?? []) {
    const params = action.method === request.method ? matchPath(action.path, path) : undefined;
    if (params) return act(kind, action, key, params, request, context);
  }
  return undefined;
}

function matchPath(pattern: string, path: readonly string[]): { [name: string]: string } | undefined {
  const steps = pattern.split("/");
  if (steps.length !== path.length) return undefined;
  const params: { [name: string]: string } = {};
  for (const [index, step] of steps.entries()) {
    const segment = path[index] ?? "";
    if (step.startsWith(":")) params[step.slice(1)] = segment;
    else if (step !== segment) return undefined;
  }
  return params;
}

function writable(kind: ResourceKind, write: Write): true {
  if (kind.writes && !kind.writes.includes(write)) throw notImplemented(`${write} of a ${kind.kind}`);
  return true;
}
