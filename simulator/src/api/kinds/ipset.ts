import { asArray, asObject, asText } from "../../documents/json.ts";
import { resolveLink } from "../../documents/links.ts";
import { nameProblems } from "../../documents/names.ts";
import { list, oneOf, required, shape, text } from "../../documents/schema.ts";
import { permissionsOf } from "../../permissions/catalogue.ts";
import type { ResourceKind } from "../resource-kind.ts";

/** Static addresses for a load balancer, linked from both sides. */
export const kind: ResourceKind = {
  kind: "ipset",
  scope: "org",
  permissions: permissionsOf(["use"]),
  fields: {
    spec: shape({
      link: text(),
      locations: list(shape({ name: required(text()), retentionPolicy: required(oneOf("keep", "free")) })),
    }),
  },
  ignored: ["status"],
  checkName: (name) => nameProblems(name),
  normalise: (ipset, key) => {
    const spec = asObject(ipset.spec);
    const link = asText(spec.link);
    const locations = asArray(spec.locations)
      .map(asObject)
      .map((item) => ({
        ...item,
        name: resolveLink(String(item.name), key) ?? `/org/${key.org}/location/${item.name}`,
      }));
    return {
      ...ipset,
      spec: {
        ...spec,
        ...(link === undefined ? {} : { link: resolveLink(link, key) ?? link }),
        ...(spec.locations === undefined ? {} : { locations }),
      },
    };
  },
  present: (ipset) => ({ ...ipset, status: { ipAddresses: [] } }),
};
