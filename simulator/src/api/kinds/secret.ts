import { nameProblems } from "../../documents/names.ts";
import { anything, oneOf, required } from "../../documents/schema.ts";
import { permissionsOf } from "../../permissions/catalogue.ts";
import { present } from "../present.ts";
import type { ResourceKind } from "../resource-kind.ts";

/** The data shows up in `-reveal` alone. */
export const kind: ResourceKind = {
  kind: "secret",
  scope: "org",
  permissions: permissionsOf(["reveal", "use"], { edit: ["view", "reveal"] }),
  fields: {
    type: required(
      oneOf(
        "aws",
        "azure-connector",
        "azure-sdk",
        "dictionary",
        "docker",
        "ecr",
        "gcp",
        "keypair",
        "nats-account",
        "opaque",
        "tls",
        "userpass",
      ),
    ),
    data: anything,
  },
  ignored: ["status"],
  checkName: (name) => nameProblems(name),
  check: (secret, before) =>
    before && before.type !== secret.type ? [{ path: "type", message: '"type" cannot be changed' }] : [],
  present: ({ data: _hidden, ...secret }) => secret,
  links: (key) => [{ rel: "reveal", href: `/org/${key.org}/secret/${key.name}/-reveal` }],
  actions: [
    {
      method: "GET",
      path: "-reveal",
      permission: "reveal",
      run: ({ key, resource, context }) => ({
        status: 200,
        body: { ...present(kind, key, resource, context), data: resource.data },
      }),
    },
  ],
};
