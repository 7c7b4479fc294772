import { anything } from "../../documents/schema.ts";
import { permissionsOf } from "../../permissions/catalogue.ts";
import type { ResourceKind } from "../resource-kind.ts";

export const kind: ResourceKind = {
  kind: "org",
  scope: "root",
  permissions: permissionsOf(["exec", "grants", "viewAccessReport"]),
  writes: ["edit"],
  fields: { spec: anything },
  ignored: ["status"],
  present: (org) => ({ ...org, status: { accountLink: "", active: true } }),
};
