/** What a deployer's token needs, as data: the test grants exactly this, and one less; docs/permissions.md lists it. */
export type Phase = "create" | "change" | "destroy";

export interface Permission {
  kind: "gvc" | "identity" | "policy" | "workload";
  permission: string;
  phase: Phase;
  why: string;
}

/** In the order in which a deployment comes to need them. `edit` brings `view`. */
export const deployerNeeds: Permission[] = [
  { kind: "gvc", permission: "create", phase: "create", why: "where the program makes the GVC" },
  { kind: "identity", permission: "create", phase: "create", why: "the identity that the proxy acts as" },
  { kind: "policy", permission: "create", phase: "create", why: "what lets that identity edit the target" },
  {
    kind: "workload",
    permission: "create",
    phase: "create",
    why: "the proxy, and the target where the program makes it",
  },
  {
    kind: "workload",
    permission: "configureLoadBalancer",
    phase: "create",
    why: 'the proxy\'s own load balancer, and later its ports; not with `expose: "internal"`',
  },
  { kind: "identity", permission: "use", phase: "create", why: "linking the identity to the proxy" },
  { kind: "gvc", permission: "edit", phase: "change", why: "where the program makes the GVC" },
  { kind: "identity", permission: "edit", phase: "change", why: "its tags and description" },
  { kind: "policy", permission: "edit", phase: "change", why: "another target" },
  { kind: "workload", permission: "edit", phase: "change", why: "every change of the proxy's settings" },
  { kind: "workload", permission: "delete", phase: "destroy", why: "a destroy" },
  { kind: "policy", permission: "delete", phase: "destroy", why: "a destroy" },
  { kind: "identity", permission: "delete", phase: "destroy", why: "a destroy" },
  { kind: "gvc", permission: "delete", phase: "destroy", why: "where the program makes the GVC" },
];

export interface Grant {
  kind: string;
  permissions: string[];
}

/** All of it, or all but one. `view` stays where `edit` is left out: it is what one may do with nothing else. */
export function grantsWithout(missing?: Permission): Grant[] {
  return [...new Set(deployerNeeds.map(({ kind }) => kind))].map((kind) => ({
    kind,
    permissions: [
      ...deployerNeeds
        .filter((each) => each.kind === kind && each !== missing)
        .map(({ permission }) => permission),
      ...(missing?.kind === kind && missing.permission === "edit" ? ["view"] : []),
    ],
  }));
}
