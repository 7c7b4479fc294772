import { nameProblems } from "../../documents/names.ts";
import { normalisePolicy, policyFields, policyProblems } from "../../documents/policy-rules.ts";
import { permissionsOf } from "../../permissions/catalogue.ts";
import type { ResourceKind } from "../resource-kind.ts";

/**
 * Its links are never checked when it is stored, so a policy doesn't keep what it names from being deleted: what is
 * left then grants nothing.
 */
export const kind: ResourceKind = {
  kind: "policy",
  scope: "org",
  permissions: permissionsOf(),
  fields: policyFields,
  checkName: (name) => nameProblems(name),
  normalise: normalisePolicy,
  check: (policy, before, { context }) => {
    const target = context.kinds.get(String(policy.targetKind));
    const grantable = target && new Set(target.permissions.items.map((item) => item.name));
    return policyProblems(policy, before, grantable, context.switches.unknownPermission);
  },
};
