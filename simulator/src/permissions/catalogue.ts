import type { PermissionCatalogue } from "./decide.ts";

const descriptions: { [name: string]: string } = {
  configureLoadBalancer: "Change the load balancer",
  connect: "Connect to a running replica",
  create: "Create new ones",
  delete: "Delete existing ones",
  edit: "Change existing ones",
  exec: "Run commands",
  "exec.runCronWorkload": "Run a cron workload now",
  "exec.stopReplica": "Stop a replica",
  grants: "Grant permissions",
  manage: "Full access",
  reveal: "See the secret data",
  use: "Refer to it from another resource",
  view: "Read-only access",
};

/**
 * A kind's permissions: create, delete, edit, manage and view, plus its own. `manage` brings all of them and `edit`
 * brings `view`; a kind adds further implications.
 */
export function permissionsOf(
  extra: readonly string[] = [],
  implied: { [permission: string]: readonly string[] } = {},
): PermissionCatalogue {
  const names = ["create", "delete", "edit", "manage", "view", ...extra].sort();
  return {
    items: names.map((name) => ({ name, description: descriptions[name] ?? name })),
    implied: { edit: ["view"], ...implied, manage: names.filter((name) => name !== "manage") },
  };
}
