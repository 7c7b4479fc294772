/** Policies, with the public provider's own idea of what a link looks like. */
import type { JsonObject } from "../../src/model.ts";
import { entity, patchReplacing } from "../mapping/entity.ts";
import { blocks, type Codec, text, texts } from "../mapping/fields.ts";
import type { ResourceKind } from "../mapping/kind.ts";
import { query } from "../mapping/query.ts";

const gvcKinds = ["identity", "workload", "volumeset"];

/**
 * What does not begin with `/org/` is taken for a name, so `//gvc/…` is mangled. Read back, a link is shortened to its
 * last segment unless the program wrote it in full.
 */
const targetLink: Codec = {
  encode: (value, { org, inputs }) => {
    if (typeof value !== "string" || value.startsWith("/org/")) return value;
    const kind = String(inputs.targetKind);
    const gvc = inputs.gvc ?? undefined;
    return gvc !== undefined && gvcKinds.includes(kind)
      ? `/org/${org}/gvc/${gvc}/${kind}/${value}`
      : `/org/${org}/${kind}/${value}`;
  },
  decode: (value) => (typeof value === "string" ? value.slice(value.lastIndexOf("/") + 1) : value),
  matches: (prior, value) => prior === value,
};

const principalLink: Codec = {
  encode: (value, { org }) =>
    typeof value === "string" && !value.startsWith(`/org/${org}`) ? `/org/${org}/${value}` : value,
  decode: (value, { org }) =>
    typeof value === "string" && value.startsWith(`/org/${org}/`)
      ? value.slice(`/org/${org}/`.length)
      : value,
};

const given = (value: unknown) => value !== undefined && value !== null;
const listed = (inputs: JsonObject) => !Array.isArray(inputs.targetLinks) || inputs.targetLinks.length > 0;

export const resource: ResourceKind = {
  token: "cpln:index/policy:Policy",
  name: "Policy",
  kind: "policy",
  scope: "org",
  fields: entity({
    targetKind: text({ required: true }),
    gvc: text({ notEchoed: true }),
    target: text(),
    targetLinks: texts({ unordered: true, each: targetLink }),
    targetQuery: query("PolicyTargetQuery"),
    bindings: blocks(
      "PolicyBinding",
      {
        permissions: texts({ required: true, unordered: true }),
        principalLinks: texts({ required: true, unordered: true, each: principalLink }),
      },
      { unordered: true },
    ),
    origin: text({ computed: true, filled: true }),
  }),
  check: (inputs) =>
    [inputs.target, inputs.targetLinks, inputs.targetQuery].some(given)
      ? []
      : [{ property: "targetLinks", reason: "one of `target`, `targetLinks` and `targetQuery` is needed" }],
  replaceOn: ["name", "targetKind"],
  replaces: (property, before, after) =>
    property === "targetLinks" &&
    Array.isArray(before.targetLinks) &&
    before.targetLinks.length > 0 &&
    (!given(after.targetLinks) || !listed(after)),
  patch: (document) => {
    const body = patchReplacing()(document);
    return {
      ...body,
      target: body.target ?? null,
      targetQuery: body.targetQuery ?? null,
      bindings: body.bindings ?? null,
    };
  },
};
