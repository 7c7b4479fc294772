import * as pulumi from "@pulumi/pulumi";
import { workloadName } from "./naming";

/** Which component's proxy the target shall let in. */
export interface ProxyWorkloadLinkArgs {
  /** The GVC that the component is made in. */
  gvc: pulumi.Input<string>;
  /** The component's own name: the first argument of `new ScaleToZeroTcp(...)`. */
  name: string;
  /** What the component got as `workloadName`, if anything. */
  workloadName?: pulumi.Input<string>;
}

/**
 * The line that the target's firewall needs, which is closed by default:
 * `firewallSpec: { internal: { inboundAllowType: "workload-list", inboundAllowWorkloads: [proxyWorkloadLink({...})] } }`.
 *
 * It is known before anything exists, so the target needs nothing from the component that needs the target.
 */
export function proxyWorkloadLink(args: ProxyWorkloadLinkArgs): pulumi.Output<string> {
  return pulumi.interpolate`//gvc/${args.gvc}/workload/${args.workloadName ?? workloadName(args.name)}`;
}
