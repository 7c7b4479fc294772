/** Sets of static addresses. */
import { link, wrapped } from "../mapping/codecs.ts";
import { entity, patchReplacing } from "../mapping/entity.ts";
import { blocks, text } from "../mapping/fields.ts";
import type { ResourceKind } from "../mapping/kind.ts";

export const resource: ResourceKind = {
  token: "cpln:index/ipSet:IpSet",
  name: "IpSet",
  kind: "ipset",
  scope: "org",
  fields: entity({
    link: text({ wire: "spec.link", codec: link }),
    locations: blocks(
      "IpSetLocation",
      { name: text({ required: true, codec: link }), retentionPolicy: text({ required: true }) },
      { wire: "spec.locations", unordered: true },
    ),
    statuses: blocks(
      "IpSetStatus",
      {
        error: text(),
        warning: text(),
        ipAddresses: blocks("IpSetStatusIpAddress", {
          name: text(),
          ip: text(),
          id: text(),
          state: text(),
          created: text(),
        }),
      },
      { wire: "status", computed: true, filled: true, codec: wrapped },
    ),
  }),
  replaceOn: ["name"],
  patch: patchReplacing("spec"),
};
