import { defaultHost } from "./contract/links";
import { isInternal, type PlainArgs } from "./plain-args";
import { mappingsOf } from "./target-list";

interface Status {
  canonicalEndpoint?: string;
}

/** The load balancer's host. The platform fills it in some time after the workload was made. */
export function hostOf(statuses: readonly Status[] | undefined): string | undefined {
  return /^tcp:\/\/(\[[^\]]+\]|[^:/]+)/.exec(statuses?.[0]?.canonicalEndpoint ?? "")?.[1];
}

/** The name inside the platform, for a proxy that has no other. */
export const internalHost = (
  args: Pick<PlainArgs, "expose">,
  workload: string,
  gvc: string,
): string | undefined => (isInternal(args) ? defaultHost(workload, gvc) : undefined);

/** What clients connect to: the load balancer's ports, or the container's own where there is none. */
export const portsText = (
  args: Pick<PlainArgs, "expose" | "ports" | "targets">,
  listens: readonly number[],
): string => (isInternal(args) ? listens : mappingsOf(args).map(({ mapping }) => mapping.port)).join(",");
