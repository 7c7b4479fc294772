/** Calls that only look. */
import { asArray, asObject } from "../../documents/json.ts";
import { homeLink, selfLink } from "../../documents/links.ts";
import { matchesQuery, queryProblem } from "../../documents/query.ts";
import type { JsonObject, Resource, ResourceKey } from "../../model.ts";
import { anonymous, type Need, type Principal, refusal } from "../../permissions/decide.ts";
import { may } from "../authorise.ts";
import type { ApiContext } from "../context.ts";
import { denied, invalid, notFound } from "../errors.ts";
import { type Operation, type Request, readOnly } from "../exchange.ts";
import { linksOf, list, present, presentList } from "../present.ts";
import type { Action, ResourceKind } from "../resource-kind.ts";

export type Home = Omit<ResourceKey, "name">;

export const needOf = (key: ResourceKey, permission: string, context: ApiContext): Need => ({
  org: key.org,
  kind: key.kind,
  permission,
  link: selfLink(key),
  resource: context.store.get(key),
});

export function mustGet(key: ResourceKey, context: ApiContext): Resource {
  const resource = context.store.get(key);
  if (!resource) throw notFound(selfLink(key));
  return resource;
}

export const getItem = (kind: ResourceKind, key: ResourceKey, context: ApiContext): Operation => ({
  name: `get ${kind.kind}`,
  need: () => needOf(key, "view", context),
  plan: () => {
    const resource = mustGet(key, context);
    return readOnly(() => ({ status: 200, body: present(kind, key, resource, context) }));
  },
});

/** A collection shows what its reader may view; without any right at all it is a 403. */
export const getList = (kind: ResourceKind, home: Home, context: ApiContext): Operation => ({
  name: `list ${kind.kind}`,
  plan: (principal) => {
    const items = visible(kind, home, principal, context);
    return readOnly(() => ({ status: 200, body: presentList(kind, home, items, context) }));
  },
});

export const query = (kind: ResourceKind, home: Home, request: Request, context: ApiContext): Operation => ({
  name: `query ${kind.kind}`,
  plan: (principal) => {
    const body = asObject(request.body);
    const spec = asObject(body.spec);
    const problem = queryProblem(spec);
    if (problem) throw invalid(problem);
    const items = visible(kind, home, principal, context)
      .filter(({ key, resource }) => matchesQuery(spec, resource, linksOf(kind, key)))
      .map(({ key, resource }) => present(kind, key, resource, context));
    const answer: JsonObject = {
      kind: "queryresult",
      itemKind: kind.kind,
      items,
      links: [{ rel: "self", href: `${homeLink(home)}/-query` }],
      query: {
        kind: kind.kind,
        fetch: "items",
        ...body,
        spec: { match: "all", ...spec, terms: asArray(spec.terms) },
      },
    };
    return readOnly(() => ({ status: 200, body: answer }));
  },
});

function visible(kind: ResourceKind, home: Home, principal: Principal, context: ApiContext) {
  if (home.gvc !== undefined) mustGet({ org: home.org, kind: "gvc", name: home.gvc }, context);
  const all =
    kind.scope === "root"
      ? context.orgs.map((name) => ({
          key: { org: name, kind: "org", name },
          resource: mustGet({ org: name, kind: "org", name }, context),
        }))
      : context.store.list({
          org: home.org,
          kind: kind.kind,
          ...(home.gvc === undefined ? {} : { gvc: home.gvc }),
        });
  const link = homeLink(home);
  if (principal === anonymous)
    throw denied(refusal(principal, { org: home.org, kind: kind.kind, permission: "view", link }));
  return all.filter(({ key }) => may(principal, needOf(key, "view", context), context));
}

/** What can be granted on a kind: open to whoever has a token. */
export const permissionsSchema = (kind: ResourceKind, org: string): Operation => ({
  name: `permissions ${kind.kind}`,
  plan: () =>
    readOnly(() => ({
      status: 200,
      body: {
        kind: "permissions",
        targetKind: kind.kind,
        items: kind.permissions.items.map((item) => ({ ...item })),
        implied: Object.fromEntries(
          Object.entries(kind.permissions.implied).map(([key, names]) => [key, [...names]]),
        ),
        links: [{ rel: "self", href: `/org/${org}/${kind.kind}/-schema/permissions` }],
      },
    })),
});

/** What happened to a document, newest first. */
export const eventLog = (kind: ResourceKind, key: ResourceKey, context: ApiContext): Operation => ({
  name: `eventlog ${kind.kind}`,
  need: () => needOf(key, "view", context),
  plan: () => {
    mustGet(key, context);
    const events = [...context.journal.events(key)].reverse();
    return readOnly(() => ({ status: 200, body: list("event", events, `${selfLink(key)}/-eventlog`) }));
  },
});

/** A kind's own sub-resource, such as a workload's deployments. */
export const act = (
  kind: ResourceKind,
  action: Action,
  key: ResourceKey,
  params: { [name: string]: string },
  request: Request,
  context: ApiContext,
): Operation => ({
  name: `${action.method.toLowerCase()} ${kind.kind} ${action.path}`,
  need: () => {
    const { permission } = action;
    return needOf(key, typeof permission === "string" ? permission : permission(request, context), context);
  },
  plan: () => {
    const resource = mustGet(key, context);
    return readOnly(() => action.run({ key, resource, params, request, context }));
  },
});
