import { permissionsOf } from "../../permissions/catalogue.ts";
import type { ResourceKind } from "../resource-kind.ts";

/** Where workloads can run. The platform's own; a simulator gets them from its options. */
export const kind: ResourceKind = {
  kind: "location",
  scope: "org",
  permissions: permissionsOf(["use"]),
  writes: [],
  fields: {},
};
