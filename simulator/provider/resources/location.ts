/** Locations: looked up, never made. */
import { wrapped } from "../mapping/codecs.ts";
import { entity } from "../mapping/entity.ts";
import { blocks, decimal, flag, text, texts } from "../mapping/fields.ts";
import type { Lookup } from "../mapping/kind.ts";

export const lookup: Lookup = {
  token: "cpln:index/getLocation:getLocation",
  name: "getLocation",
  arguments: { name: text({ required: true }) },
  result: {
    ...entity({
      cloudProvider: text({ filled: true, wire: "provider" }),
      region: text({ filled: true }),
      origin: text({ filled: true }),
      enabled: flag({ filled: true, wire: "spec.enabled" }),
      ipRanges: texts({ filled: true, wire: "status.ipRanges" }),
      geos: blocks(
        "getLocationGeo",
        {
          city: text({ filled: true }),
          continent: text({ filled: true }),
          country: text({ filled: true }),
          lat: decimal({ filled: true }),
          lon: decimal({ filled: true }),
          state: text({ filled: true }),
        },
        { filled: true, wire: "status.geo", codec: wrapped },
      ),
    }),
    id: text({ filled: true, wire: "name" }),
    name: text({ required: true }),
  },
  path: ({ name }, org) => `/org/${org}/location/${name}`,
};
