/** Calls that change documents: create, upsert, replace, patch. Deletion is next door. */
import { asObject, isObject, sameJson, without } from "../../documents/json.ts";
import { selfLink } from "../../documents/links.ts";
import { applyPatch, PatchError } from "../../documents/patch.ts";
import { checkShape, type Problem, record, text } from "../../documents/schema.ts";
import type { JsonObject, Resource, ResourceKey } from "../../model.ts";
import type { Need, Principal } from "../../permissions/decide.ts";
import type { ApiContext } from "../context.ts";
import { newResource, nextVersion, readOnlyMembers } from "../envelope.ts";
import { conflict, invalid, invalidDocument } from "../errors.ts";
import type { Answer, Operation, Plan, Request } from "../exchange.ts";
import { present } from "../present.ts";
import type { ResourceKind } from "../resource-kind.ts";
import { type Home, mustGet, needOf } from "./read.ts";

export const createNeed = (key: ResourceKey): Need => ({
  org: key.org,
  kind: key.kind,
  permission: "create",
  link: selfLink(key),
  wholeKind: true,
});

/** POST to a collection. */
export function create(kind: ResourceKind, home: Home, request: Request, context: ApiContext): Operation {
  const key = { ...home, name: String(asObject(request.body).name ?? "") };
  return {
    name: `create ${kind.kind}`,
    need: () => createNeed(key),
    plan: (principal) => {
      const body = readBody(kind, request);
      checkIdentity(body, key, undefined, context);
      if (context.store.get(key)) throw conflict(`${selfLink(key)} already exists`);
      return planWrite(kind, key, body, undefined, principal, request, context);
    },
  };
}

/** PUT to a collection (`name` in the body) or to an item: creates or replaces. */
export function upsert(
  kind: ResourceKind,
  key: ResourceKey,
  request: Request,
  context: ApiContext,
): Operation {
  return {
    name: `put ${kind.kind}`,
    need: () => (context.store.get(key) ? needOf(key, "edit", context) : createNeed(key)),
    plan: (principal) => {
      const body = readBody(kind, request);
      const before = context.store.get(key);
      checkIdentity(body, key, before, context);
      return planWrite(kind, key, body, before, principal, request, context);
    },
  };
}

/** PATCH of an item. Members that the platform writes itself are ignored, but for a stale `version`. */
export function patch(
  kind: ResourceKind,
  key: ResourceKey,
  request: Request,
  context: ApiContext,
): Operation {
  return {
    name: `patch ${kind.kind}`,
    need: () => needOf(key, "edit", context),
    plan: (principal) => {
      const changes = readBody(kind, request);
      const before = mustGet(key, context);
      checkIdentity(changes, key, before, context);
      const merged = mergePatch(
        before,
        without(changes, ...readOnlyMembers, ...(kind.ignored ?? [])),
        context,
      );
      return planWrite(kind, key, merged, before, principal, request, context);
    },
  };
}

function readBody(kind: ResourceKind, request: Request): JsonObject {
  if (request.unreadable !== undefined) throw invalid(`The body is not JSON: ${request.unreadable}`);
  if (!isObject(request.body)) throw invalid('"body" must be of type object');
  if (request.body.kind !== undefined && request.body.kind !== kind.kind) {
    throw invalid(`"kind" must be [${kind.kind}]`);
  }
  return request.body;
}

function mergePatch(before: Resource, changes: JsonObject, context: ApiContext): JsonObject {
  const mergeArrays = context.switches.localOptionsPatch === "merge" ? ["localOptions"] : [];
  try {
    return applyPatch(before, changes, { mergeArrays });
  } catch (error) {
    if (error instanceof PatchError) throw invalid(error.message);
    throw error;
  }
}

function checkIdentity(
  body: JsonObject,
  key: ResourceKey,
  before: Resource | undefined,
  context: ApiContext,
): void {
  if (body.name !== undefined && body.name !== key.name) throw invalid('"name" cannot be changed');
  if (body.gvc !== undefined && body.gvc !== key.gvc) {
    throw invalid(key.gvc === undefined ? '"gvc" is not allowed' : `"gvc" must be [${key.gvc}]`);
  }
  const { version } = body;
  if (version === undefined || version === null || !before || Number(version) === before.version) return;
  const message = `version ${String(version)} of ${selfLink(key)} is stale: it is at ${before.version}`;
  const { conflictBody } = context.switches;
  throw conflict(
    message,
    { version: before.version },
    conflictBody === "full" ? undefined : conflictBody === "message" ? { message } : {},
  );
}

const envelopeFields = { description: text({ max: 250 }), tags: record(anyScalar, { max: 50 }) };

/** Tags are free, but flat. */
function anyScalar(value: unknown, path: string, problems: Problem[]) {
  if (typeof value === "object") problems.push({ path, message: `"${path}" must be a scalar` });
  return value as string;
}

function planWrite(
  kind: ResourceKind,
  key: ResourceKey,
  body: JsonObject,
  before: Resource | undefined,
  principal: Principal,
  request: Request,
  context: ApiContext,
): Plan {
  if (key.gvc !== undefined) mustGet({ org: key.org, kind: "gvc", name: key.gvc }, context);
  const now = context.clock.now();
  const problems: Problem[] = before ? [] : (kind.checkName?.(key.name) ?? []);
  const sent = without(body, ...readOnlyMembers, ...(kind.ignored ?? []));
  const checked = checkShape({ ...envelopeFields, ...kind.fields }, sent, "", problems);
  if (problems.length > 0) throw invalidDocument(problems);
  const draft = before ? nextVersion(before, checked, now) : newResource(kind.kind, key.name, checked, now);
  const after = kind.normalise?.(draft, key) ?? draft;
  problems.push(...(kind.check?.(after, before, { key, context }) ?? []));
  if (problems.length > 0) throw invalidDocument(problems);
  return {
    needs: kind.needs?.(after, before, { key, context }) ?? [],
    commit: () => write(kind, key, after, before, principal, request, context),
  };
}

function write(
  kind: ResourceKind,
  key: ResourceKey,
  after: Resource,
  before: Resource | undefined,
  principal: Principal,
  request: Request,
  context: ApiContext,
): Answer {
  const answer = (resource: Resource): Answer => ({
    status: before ? 200 : 201,
    body: present(kind, key, resource, context),
    ...(before ? {} : { headers: { location: selfLink(key) } }),
  });
  if (request.query.dryRun === "true") return { ...answer(after), status: 200, headers: {} };
  context.store.put(key, after);
  context.journal.record(key, {
    id: `${after.id}-${after.version}`,
    created: after.lastModified,
    status: "normal",
    context: {
      operation: before ? "edit" : "create",
      principal: principal.name,
      version: after.version,
      changed: before ? changedMembers(before, after).join(",") : "",
    },
    links: [{ rel: "resource", href: selfLink(key) }],
  });
  return answer(context.store.get(key) ?? after);
}

const changedMembers = (before: Resource, after: Resource): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !["version", "lastModified"].includes(name) && !sameJson(before[name], after[name]))
    .sort();
