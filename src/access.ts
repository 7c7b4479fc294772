import * as pulumi from "@pulumi/pulumi";
import type * as cpln from "@pulumiverse/cpln";
import { parseLink } from "./contract/links";
import type { PlainArgs } from "./plain-args";

/** The one workload that the proxy may change. */
export interface TargetRef {
  gvc: pulumi.Output<string>;
  name: pulumi.Output<string>;
}

export const targetName = ({ target }: Pick<PlainArgs, "target">): string =>
  parseLink(target)?.name ?? target;

export const targetGvc = (args: Pick<PlainArgs, "target" | "targetGvc" | "gvc">): string =>
  args.targetGvc ?? parseLink(args.target)?.gvc ?? args.gvc;

/**
 * `edit` on exactly the target, for exactly this identity. Links are written as the provider keeps them (a bare name
 * beside `gvc`, the principal without its organisation): so they are known at preview, and neither a refresh nor the
 * import of an existing policy shows a difference.
 */
export function policySpec(
  target: TargetRef,
  identity: cpln.Identity,
): Pick<cpln.PolicyArgs, "targetKind" | "gvc" | "targetLinks" | "bindings"> {
  return {
    targetKind: "workload",
    gvc: target.gvc,
    targetLinks: [target.name],
    bindings: [
      {
        permissions: ["edit"],
        principalLinks: [pulumi.interpolate`gvc/${identity.gvc}/identity/${identity.name}`],
      },
    ],
  };
}
