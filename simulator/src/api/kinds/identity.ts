import { nameProblems } from "../../documents/names.ts";
import { anything, list } from "../../documents/schema.ts";
import { permissionsOf } from "../../permissions/catalogue.ts";
import type { ResourceKind } from "../resource-kind.ts";

export const kind: ResourceKind = {
  kind: "identity",
  scope: "gvc",
  permissions: permissionsOf(["use"]),
  fields: {
    aws: anything,
    gcp: anything,
    azure: anything,
    ngs: anything,
    networkResources: list(anything, { max: 50 }),
    nativeNetworkResources: list(anything, { max: 50 }),
    memcacheAccess: list(anything),
    spicedbAccess: list(anything),
  },
  ignored: ["status"],
  checkName: (name) => nameProblems(name),
  present: (identity) => ({
    ...identity,
    status: { objectName: `${identity.name}-${identity.id.slice(0, 8)}` },
  }),
};
