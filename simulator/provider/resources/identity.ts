/** Identities. The cloud access blocks are no part of the subset; they are refused rather than dropped. */
import { entity, patchReplacing } from "../mapping/entity.ts";
import { map, text } from "../mapping/fields.ts";
import type { ResourceKind } from "../mapping/kind.ts";

export const resource: ResourceKind = {
  token: "cpln:index/identity:Identity",
  name: "Identity",
  kind: "identity",
  scope: "gvc",
  fields: entity({
    gvc: text({ required: true, notEchoed: true }),
    status: map({ computed: true, filled: true }),
  }),
  replaceOn: ["name", "gvc"],
  patch: patchReplacing(),
};
