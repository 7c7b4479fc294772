import type { JsonObject, Store } from "../model.ts";
import { newResource } from "./envelope.ts";
import { kind as gvcKind } from "./kinds/gvc.ts";

export interface GvcSeed {
  name: string;
  /** Bare names; all locations of the simulator unless told. */
  locations?: string[];
}

/** What is there before anybody deploys: an org, its locations, and GVCs. */
export function seed(
  store: Store,
  plan: { org: string; locations: readonly string[]; gvcs: readonly (string | GvcSeed)[] },
  now: number,
): void {
  const { org } = plan;
  store.put({ org, kind: "org", name: org }, newResource("org", org, { spec: {} }, now));
  for (const name of plan.locations) {
    const [provider = "", ...region] = name.split("-");
    const body: JsonObject = {
      provider,
      region: region.join("-"),
      origin: "builtin",
      spec: { enabled: true },
      status: {},
    };
    store.put({ org, kind: "location", name }, newResource("location", name, body, now));
  }
  for (const entry of plan.gvcs) {
    const { name, locations = [...plan.locations] } = typeof entry === "string" ? { name: entry } : entry;
    const key = { org, kind: "gvc", name };
    const locationLinks = locations.map((location) => `/org/${org}/location/${location}`);
    const draft = newResource("gvc", name, { spec: { staticPlacement: { locationLinks } } }, now);
    store.put(key, gvcKind.normalise?.(draft, key) ?? draft);
  }
}
