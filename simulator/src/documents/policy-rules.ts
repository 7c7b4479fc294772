/** A policy's members, what the platform refuses in it, and what it makes of it. */
import type { Resource, ResourceKey } from "../model.ts";
import { asArray, asObject, asTexts } from "./json.ts";
import { resolveLink } from "./links.ts";
import { anything, type Fields, list, oneOf, type Problem, required, shape, text } from "./schema.ts";

export const policyFields: Fields = {
  targetKind: required(text()),
  target: oneOf("all"),
  targetLinks: list(text(), { max: 200 }),
  targetQuery: shape({ kind: text(), fetch: text(), spec: anything }),
  bindings: list(
    shape({
      permissions: required(list(text(), { min: 1, unique: true })),
      principalLinks: required(list(text(), { min: 1, max: 200 })),
    }),
    { max: 50 },
  ),
  origin: oneOf("default", "builtin"),
};

/** Permissions sorted, short links made full. A link that leads nowhere is kept: it grants nothing. */
export function normalisePolicy(policy: Resource, key: ResourceKey): Resource {
  const full = (link: string) => resolveLink(link, { org: key.org }) ?? link;
  return {
    ...policy,
    origin: "default",
    ...(policy.targetLinks === undefined ? {} : { targetLinks: asTexts(policy.targetLinks).map(full) }),
    bindings: asArray(policy.bindings).map((entry) => {
      const binding = asObject(entry);
      return {
        permissions: asTexts(binding.permissions).sort(),
        principalLinks: asTexts(binding.principalLinks).map(full),
      };
    }),
  };
}

/** `grantable` knows the permissions of the target kind; undefined says there is no such kind. */
export function policyProblems(
  policy: Resource,
  before: Resource | undefined,
  grantable: ReadonlySet<string> | undefined,
  unknownPermission: "refuse" | "store",
): Problem[] {
  const problems: Problem[] = [];
  const report = (path: string, message: string) =>
    void problems.push({ path, message: `"${path}" ${message}` });
  const targetKind = String(policy.targetKind);
  if (before && before.targetKind !== policy.targetKind) report("targetKind", "cannot be changed");
  if (!grantable) report("targetKind", `"${targetKind}" is not a kind`);
  const ways = [
    policy.target !== undefined,
    asArray(policy.targetLinks).length > 0,
    policy.targetQuery !== undefined,
  ].filter(Boolean);
  if (ways.length > 1) report("target", "contains a conflict between [target, targetLinks, targetQuery]");
  asTexts(policy.targetLinks).forEach((link, index) => {
    if (!link.startsWith("/org/")) report(`targetLinks[${index}]`, `"${link}" is not a link`);
  });
  asArray(policy.bindings)
    .map(asObject)
    .forEach((binding, index) => {
      for (const permission of asTexts(binding.permissions)) {
        if (unknownPermission === "store" || !grantable || grantable.has(permission)) continue;
        report(`bindings[${index}].permissions`, `"${permission}" is not a permission of ${targetKind}`);
      }
      asTexts(binding.principalLinks).forEach((link, at) => {
        if (!link.startsWith("/org/"))
          report(`bindings[${index}].principalLinks[${at}]`, `"${link}" is not a link`);
      });
    });
  return problems;
}
