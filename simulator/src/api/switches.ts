/**
 * The API's side of what no source settles. Each default is the stricter reading: software that works under it
 * works under the other one as well. docs/simulator.md tells where each stands.
 */
export interface ApiSwitches {
  /** A workload token with a `Bearer` prefix: anonymous (`raw`), or as good as without (`raw-or-bearer`). */
  workloadTokenForm: "raw" | "raw-or-bearer";
  /** Whether a workload needs an outbound firewall rule to reach the API at its `CPLN_ENDPOINT`. */
  outboundRule: "required" | "not-needed";
  /** The permission on a workload that lets one read its deployments. `edit` brings `view` along, not `manage`. */
  deploymentReadable: "manage" | "view";
  /** A plain `localOptions` array in a PATCH: takes the old one's place, or merges by location. */
  localOptionsPatch: "replace" | "merge";
  /** What the answer to a stale `version` holds. */
  conflictBody: "full" | "message" | "empty";
  /** A policy that grants a permission its kind doesn't have: refused, or stored without effect. */
  unknownPermission: "refuse" | "store";
  /** Deleting what another document refers to. */
  deleteReferenced: "refuse" | "allow";
}

export const strictSwitches: ApiSwitches = {
  workloadTokenForm: "raw",
  outboundRule: "required",
  deploymentReadable: "manage",
  localOptionsPatch: "replace",
  conflictBody: "full",
  unknownPermission: "refuse",
  deleteReferenced: "refuse",
};
