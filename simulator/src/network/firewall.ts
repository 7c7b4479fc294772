import { BlockList, isIP } from "node:net";
import type { JsonObject, ResourceKey } from "../model.ts";
import { list, object, text, texts } from "../platform/json.ts";
import { plainAddress } from "./addresses.ts";

/** A workload's firewall as its document has it. What is not written is closed. */
export interface Firewall {
  internal: {
    allow: "none" | "same-gvc" | "same-org" | "workload-list";
    workloads: string[];
  };
  external: { allow: string[]; block: string[] };
}

export function readFirewall(spec: JsonObject): Firewall {
  const config = object(spec.firewallConfig);
  const internal = object(config.internal);
  const external = object(config.external);
  const type = text(internal.inboundAllowType);
  return {
    internal: {
      allow: type === "same-gvc" || type === "same-org" || type === "workload-list" ? type : "none",
      workloads: texts(internal.inboundAllowWorkload),
    },
    external: {
      allow: list(external.inboundAllowCIDR).map(String),
      block: list(external.inboundBlockedCIDR).map(String),
    },
  };
}

/** Whether `caller` may open a mesh connection to `callee`. Nobody is let in for being the same workload. */
export function admitsInternally(
  firewall: Firewall,
  callee: ResourceKey,
  caller: ResourceKey | undefined,
): boolean {
  if (caller === undefined || caller.org !== callee.org) return false;
  switch (firewall.internal.allow) {
    case "none":
      return false;
    case "same-org":
      return true;
    case "same-gvc":
      return caller.gvc === callee.gvc;
    case "workload-list":
      return firewall.internal.workloads.some((link) => namesWorkload(link, caller));
  }
}

/** `//gvc/G/workload/W` or `/org/O/gvc/G/workload/W`. */
function namesWorkload(link: string, key: ResourceKey): boolean {
  const tail = `gvc/${key.gvc}/workload/${key.name}`;
  return link === `//${tail}` || link === `/org/${key.org}/${tail}`;
}

/** Blocked ranges win over allowed ones; nothing allowed means nobody. */
export function admitsExternally(firewall: Firewall, remoteAddress: string | undefined): boolean {
  const address = plainAddress(remoteAddress);
  return !inRanges(firewall.external.block, address) && inRanges(firewall.external.allow, address);
}

export function inRanges(ranges: string[], address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const kind = family === 4 ? "ipv4" : "ipv6";
  const rules = new BlockList();
  for (const range of ranges) {
    const [base = "", prefix] = range.trim().split("/");
    const baseFamily = isIP(base);
    if (baseFamily === 0) continue;
    const widest = baseFamily === 4 ? 32 : 128;
    const bits = prefix === undefined ? widest : Number(prefix);
    if (!Number.isInteger(bits) || bits < 0 || bits > widest) continue;
    rules.addSubnet(base, bits, baseFamily === 4 ? "ipv4" : "ipv6");
  }
  return rules.check(address, kind);
}
