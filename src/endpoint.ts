import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { defaultHost, parseLink } from "./contract/links";
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

/** A component, or what its outputs are elsewhere. */
export interface EndpointArgs {
  workloadLink: pulumi.Input<string>;
  /** What was recorded, for a proxy that has no load balancer and for as long as the platform can't be asked. */
  host?: pulumi.Input<string | undefined>;
}

/**
 * The host to connect to, asked for on every update: right without a refresh, where the output `host` is what was
 * recorded last. Undefined until the platform knows it.
 */
export function endpointOf(
  component: EndpointArgs,
  opts?: pulumi.InvokeOptions,
): pulumi.Output<string | undefined> {
  return pulumi.all([component.workloadLink, component.host]).apply(async ([link, host]) => {
    const { gvc, name } = parseLink(link) ?? {};
    if (gvc === undefined || name === undefined || host === defaultHost(name, gvc)) return host;
    const { statuses } = await cpln.getWorkload({ gvc, name }, opts);
    return hostOf(statuses) ?? host;
  });
}
