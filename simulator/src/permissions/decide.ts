/** Pure: who may do what. Nothing is granted unless a policy says so. */
import { asArray, asObject, asTexts } from "../documents/json.ts";
import { matchesQuery } from "../documents/query.ts";
import type { JsonObject, Resource } from "../model.ts";

/** What a kind's policies can grant, and what each grant brings with it. */
export interface PermissionCatalogue {
  readonly items: readonly { name: string; description: string }[];
  readonly implied: { readonly [permission: string]: readonly string[] };
}

/** Who calls: its own link, and the groups it belongs to. Anonymous has no link at all. */
export interface Principal {
  /** `/org/O/gvc/G/identity/I`, `/org/O/serviceaccount/S`, or `anonymous`. */
  readonly name: string;
  readonly links: readonly string[];
}

export const anonymous: Principal = { name: "anonymous", links: [] };

/** One right that a call asks for. Without `resource` it is about the kind as a whole (create). */
export interface Need {
  readonly org: string;
  readonly kind: string;
  readonly permission: string;
  /** What the right is about, for the message and for `targetLinks`. */
  readonly link: string;
  readonly resource?: Resource | undefined;
  /** Creation: only a policy about all of the kind can grant it, since what it is about has no link yet. */
  readonly wholeKind?: boolean;
}

/** Every permission that holding `permissions` brings, themselves included. */
export function expand(permissions: readonly string[], catalogue: PermissionCatalogue): Set<string> {
  const held = new Set<string>();
  const add = (permission: string): void => {
    if (held.has(permission)) return;
    held.add(permission);
    for (const implied of catalogue.implied[permission] ?? []) add(implied);
  };
  for (const permission of permissions) add(permission);
  return held;
}

export function isGranted(
  principal: Principal,
  need: Need,
  policies: readonly JsonObject[],
  catalogue: PermissionCatalogue,
): boolean {
  return policies.some(
    (policy) =>
      policy.targetKind === need.kind &&
      covers(policy, need) &&
      asArray(policy.bindings).some((entry) => {
        const binding = asObject(entry);
        const named = asTexts(binding.principalLinks).some((link) => principal.links.includes(link));
        return named && expand(asTexts(binding.permissions), catalogue).has(need.permission);
      }),
  );
}

function covers(policy: JsonObject, need: Need): boolean {
  if (policy.target === "all") return true;
  if (need.wholeKind) return false;
  if (asTexts(policy.targetLinks).includes(need.link)) return true;
  const query = asObject(policy.targetQuery);
  if (need.resource === undefined || policy.targetQuery === undefined) return false;
  return matchesQuery(asObject(query.spec), need.resource);
}

/** The platform's own policies: superusers manage everything, viewers see everything. */
export function builtinPolicies(org: string, kinds: readonly string[]): JsonObject[] {
  return kinds.map((kind) => ({
    name: `superusers-${kind}`,
    origin: "builtin",
    targetKind: kind,
    target: "all",
    bindings: [
      { permissions: ["manage"], principalLinks: [`/org/${org}/group/superusers`] },
      { permissions: ["view"], principalLinks: [`/org/${org}/group/viewers`] },
    ],
  }));
}

/** The text that clients look for: which right, on what, for whom. */
export const refusal = (principal: Principal, need: Need): string =>
  `not granted [${need.permission}] on ${need.link} for principal ${principal.name}`;
