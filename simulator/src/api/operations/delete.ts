import { selfLink } from "../../documents/links.ts";
import type { ResourceKey } from "../../model.ts";
import type { ApiContext } from "../context.ts";
import { invalid } from "../errors.ts";
import type { Operation } from "../exchange.ts";
import type { ResourceKind } from "../resource-kind.ts";
import { mustGet, needOf } from "./read.ts";

/** DELETE answers 202 without a body; what is still referred to is a 400. */
export const remove = (kind: ResourceKind, key: ResourceKey, context: ApiContext): Operation => ({
  name: `delete ${kind.kind}`,
  need: () => needOf(key, "delete", context),
  plan: () => {
    const resource = mustGet(key, context);
    const reason = kind.undeletable?.(resource, key);
    if (reason) throw invalid(reason);
    const dependents = kind.dependents?.(key, context) ?? [];
    if (context.switches.deleteReferenced === "refuse") refuseReferenced([key, ...dependents], context);
    return {
      needs: [],
      commit: () => {
        for (const gone of [...dependents, key]) {
          context.store.delete(gone);
          context.journal.forget(gone);
        }
        return { status: 202 };
      },
    };
  },
});

/** Referrers that go in the same stroke don't count. */
function refuseReferenced(going: readonly ResourceKey[], context: ApiContext): void {
  const leaving = new Set(going.map(selfLink));
  const org = going[0]?.org ?? "";
  for (const kind of context.kinds.values()) {
    const { references } = kind;
    if (!references) continue;
    for (const { key, resource } of context.store.list({ org, kind: kind.kind })) {
      if (leaving.has(selfLink(key))) continue;
      const held = references(resource, key).find((link) => leaving.has(link));
      if (held) throw invalid(`${held} cannot be deleted: ${selfLink(key)} refers to it`);
    }
  }
}
