import { createHash } from "node:crypto";
import { asArray, asObject, asTexts, sameJson } from "../../documents/json.ts";
import { gvcKinds, parseLink, resolveLink } from "../../documents/links.ts";
import { nameProblems } from "../../documents/names.ts";
import { anything, bool, int, list, type Problem, required, shape, text } from "../../documents/schema.ts";
import type { Resource, ResourceKey } from "../../model.ts";
import { permissionsOf } from "../../permissions/catalogue.ts";
import type { ResourceKind } from "../resource-kind.ts";

export const kind: ResourceKind = {
  kind: "gvc",
  scope: "org",
  permissions: permissionsOf(["configureLoadBalancer"]),
  fields: {
    alias: text(),
    spec: shape({
      staticPlacement: shape({
        locationLinks: list(text()),
        locationQuery: anything,
        locationOptions: list(anything),
      }),
      pullSecretLinks: list(text()),
      domain: text(),
      endpointNamingFormat: text({ pattern: /^(default|legacy|org)$/ }),
      aliasWorkloadLink: text(),
      env: list(shape({ name: required(text()), value: text({ max: 4096 }) })),
      tracing: anything,
      sidecar: anything,
      loadBalancer: shape({
        dedicated: bool,
        ipSet: text(),
        trustedProxies: int(0, 2),
        multiZone: shape({ enabled: bool }),
        redirect: anything,
      }),
      keda: shape({ enabled: bool, identityLink: text(), secrets: list(text()) }),
    }),
  },
  ignored: ["alias", "status"],
  checkName: (name) => nameProblems(name),
  normalise,
  check: (gvc, _before, { key, context }) => {
    const problems: Problem[] = [];
    locationLinks(gvc).forEach((link, index) => {
      const location = parseLink(link);
      if (location?.kind === "location" && location.org === key.org && context.store.get(location)) return;
      const path = `spec.staticPlacement.locationLinks[${index}]`;
      problems.push({ path, message: `"${path}" ${link} is not a location` });
    });
    return problems;
  },
  needs: (gvc, before, { key }) => {
    const [now, was] = [gvc, before].map((document) => asObject(document?.spec).loadBalancer);
    if (sameJson(now, was)) return [];
    const link = `/org/${key.org}/gvc/${key.name}`;
    return [
      {
        org: key.org,
        kind: "gvc",
        permission: "configureLoadBalancer",
        link,
        resource: before,
        wholeKind: !before,
      },
    ];
  },
  undeletable: (gvc, key) => {
    const mark = asObject(gvc.tags)["cpln/protected"];
    return mark === true || mark === "true" ? `/org/${key.org}/gvc/${key.name} is protected` : undefined;
  },
  /** What lives in a GVC goes with it. */
  dependents: (key, { store }) =>
    gvcKinds.flatMap((each) =>
      store.list({ org: key.org, kind: each, gvc: key.name }).map((entry) => entry.key),
    ),
};

const locationLinks = (gvc: Resource): string[] =>
  asTexts(asObject(asObject(gvc.spec).staticPlacement).locationLinks);

/** Location links made full and sorted, and an alias that never changes. */
function normalise(gvc: Resource, key: ResourceKey): Resource {
  const spec = asObject(gvc.spec);
  const placement = asObject(spec.staticPlacement);
  const links = asArray(placement.locationLinks)
    .map(String)
    .map((link) => resolveLink(link, key) ?? link)
    .sort();
  const placed = placement.locationLinks === undefined ? placement : { ...placement, locationLinks: links };
  const alias = createHash("sha256").update(`${key.org}/${key.name}`).digest("hex").slice(0, 13);
  return {
    ...gvc,
    alias,
    spec: { ...spec, ...(spec.staticPlacement === undefined ? {} : { staticPlacement: placed }) },
  };
}
