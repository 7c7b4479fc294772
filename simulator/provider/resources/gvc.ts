/** GVCs. Tracing and sidecars are no part of the subset. */
import { ipSetLink, link, locationName, namedValues, secretName } from "../mapping/codecs.ts";
import { entity, patchReplacing } from "../mapping/entity.ts";
import { block, blocks, type Fields, flag, integer, map, text, texts } from "../mapping/fields.ts";
import type { Lookup, ResourceKind } from "../mapping/kind.ts";
import { query } from "../mapping/query.ts";

const placement = "spec.staticPlacement";

const own: Fields = {
  locations: texts({ wire: `${placement}.locationLinks`, unordered: true, each: locationName }),
  pullSecrets: texts({ wire: "spec.pullSecretLinks", unordered: true, each: secretName }),
  domain: text({ wire: "spec.domain" }),
  env: map({ wire: "spec.env", codec: namedValues }),
};

export const resource: ResourceKind = {
  token: "cpln:index/gvc:Gvc",
  name: "Gvc",
  kind: "gvc",
  scope: "org",
  fields: entity({
    ...own,
    aliasWorkloadLink: text({ wire: "spec.aliasWorkloadLink", codec: link }),
    endpointNamingFormat: text({ wire: "spec.endpointNamingFormat", filled: true, apiDefault: "default" }),
    locationQuery: query("GvcLocationQuery", `${placement}.locationQuery`),
    locationOptions: blocks(
      "GvcLocationOption",
      {
        name: text({ required: true, wire: "locationLink", codec: locationName }),
        latencyOffsetMs: integer(),
        latencyToleranceMs: integer(),
        routingTier: integer(),
      },
      { wire: `${placement}.locationOptions`, unordered: true },
    ),
    loadBalancer: block(
      "GvcLoadBalancer",
      {
        dedicated: flag(),
        ipset: text({ wire: "ipSet", codec: ipSetLink }),
        trustedProxies: integer({ default: 0 }),
        multiZone: block("GvcLoadBalancerMultiZone", { enabled: flag({ default: false }) }),
      },
      { wire: "spec.loadBalancer" },
    ),
    keda: block(
      "GvcKeda",
      {
        enabled: flag({ default: false }),
        identityLink: text({ codec: link }),
        secrets: texts({ unordered: true, each: link }),
      },
      { wire: "spec.keda" },
    ),
    alias: text({ computed: true, filled: true }),
  }),
  replaceOn: [],
  /** A rename drops everything in the GVC: the public provider wants it said in a tag. */
  replaces: (property, before, after) => {
    if (property !== "name" || before.name === after.name) return false;
    const wanted = (after.tags as { "cpln/terraformReplace"?: string } | undefined)?.[
      "cpln/terraformReplace"
    ];
    if (wanted?.toLowerCase() === "true") return true;
    throw new Error(
      `GVC replacement refused: renaming "${before.name}" to "${after.name}" would delete the GVC with every workload and ` +
        'identity in it. Set the tag "cpln/terraformReplace" to "true" to have it.',
    );
  },
  patch: patchReplacing("spec"),
};

export const lookup: Lookup = {
  token: "cpln:index/getGvc:getGvc",
  name: "getGvc",
  arguments: { name: text({ required: true }) },
  result: {
    ...entity({
      ...own,
      aliasWorkloadLink: text({ wire: "spec.aliasWorkloadLink", filled: true }),
      endpointNamingFormat: text({ wire: "spec.endpointNamingFormat", filled: true }),
      alias: text({ filled: true }),
    }),
    id: text({ filled: true, wire: "name" }),
    name: text({ required: true }),
  },
  path: ({ name }, org) => `/org/${org}/gvc/${name}`,
};
