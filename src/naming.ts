import { createHash } from "node:crypto";
import { MAX_NAME, MAX_WORKLOAD_NAME } from "./contract/links";

// Physical names. They follow from the component's name alone (and the policy's from its GVC too, because policies
// live in the organisation), so that they are known before anything exists and never change on an update. How they
// are made is a promise: another name would replace the load balancer and with it the address.

const SUFFIX = "-proxy";
const HASH_LENGTH = 8;

export const workloadName = (component: string): string => shorten(component, SUFFIX, MAX_WORKLOAD_NAME);

export const identityName = (component: string): string => shorten(component, SUFFIX, MAX_NAME);

export const policyName = (component: string, gvc: string): string =>
  shorten(`${component}${SUFFIX}-${gvc}`, "", MAX_NAME);

/**
 * The stem as a platform name within the limit. What had to be changed or cut carries a hash of the whole, so that
 * two stems never meet in one name.
 */
function shorten(stem: string, suffix: string, limit: number): string {
  const tame = stem
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .replace(/-+$/, "");
  if (tame === stem && stem.length + suffix.length <= limit) return `${stem}${suffix}`;
  const hash = createHash("sha256").update(stem).digest("hex").slice(0, HASH_LENGTH);
  const room = limit - suffix.length - hash.length - 1;
  const head = tame.slice(0, room).replace(/-+$/, "");
  return `${head === "" ? "p" : head}-${hash}${suffix}`;
}
