import type { JsonObject } from "../model.ts";
import { builtinPolicies, isGranted, type Need, type Principal, refusal } from "../permissions/decide.ts";
import type { ApiContext } from "./context.ts";
import { denied } from "./errors.ts";

/** Is this right granted by a policy, stored or built in? */
export function may(principal: Principal, need: Need, context: ApiContext): boolean {
  const kind = context.kinds.get(need.kind);
  if (!kind) return false;
  const stored: JsonObject[] = context.store
    .list({ org: need.org, kind: "policy" })
    .map(({ resource }) => resource);
  return isGranted(principal, need, [...builtinPolicies(need.org, [need.kind]), ...stored], kind.permissions);
}

export function demand(principal: Principal, need: Need, context: ApiContext): void {
  if (may(principal, need, context)) return;
  const load =
    need.permission === "configureLoadBalancer" ? ": the loadBalancer configuration may not be changed" : "";
  throw denied(`${refusal(principal, need)}${load}`);
}
