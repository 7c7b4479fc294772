import * as pulumi from "@pulumi/pulumi";
import type * as cpln from "@pulumiverse/cpln";
import type { TargetId } from "./target-list";

const MAX_DESCRIPTION = 250;

/** What the resources say that they are for. */
export function describeTargets(targets: readonly TargetId[]): string {
  const text = `Scale to zero for ${targets.map(({ gvc, name }) => `${gvc}/${name}`).join(", ")}`;
  return text.length <= MAX_DESCRIPTION ? text : `Scale to zero for ${targets.length} workloads`;
}

export interface PolicyTargets {
  targets: pulumi.Output<TargetId[]>;
  /** The name of an only target, which may be known before its GVC is. */
  only?: pulumi.Output<string> | undefined;
}

/**
 * `edit` on exactly the targets, for exactly this identity. Links are written as the provider keeps them (bare names
 * beside `gvc`, the principal without its organisation): so they are known at preview, and neither a refresh nor the
 * import of an existing policy shows a difference. Targets in several GVCs need whole links, whose organisation is
 * the identity's.
 */
export function policySpec(
  { targets, only }: PolicyTargets,
  identity: cpln.Identity,
): Pick<cpln.PolicyArgs, "targetKind" | "gvc" | "targetLinks" | "bindings"> {
  const common = targets.apply((all) => commonGvc(all) as string);
  return {
    targetKind: "workload",
    gvc: common,
    targetLinks:
      only?.apply((name) => [name]) ??
      targets.apply((all): pulumi.Output<string[]> => {
        if (commonGvc(all) !== undefined) return pulumi.output(all.map(({ name }) => name));
        return identity.selfLink.apply((link) => {
          const org = link.split("/", 3).join("/");
          return all.map(({ gvc, name }) => `${org}/gvc/${gvc}/workload/${name}`);
        });
      }),
    bindings: [
      {
        permissions: ["edit"],
        principalLinks: [pulumi.interpolate`gvc/${identity.gvc}/identity/${identity.name}`],
      },
    ],
  };
}

function commonGvc(targets: readonly TargetId[]): string | undefined {
  const [first, ...others] = new Set(targets.map(({ gvc }) => gvc));
  return others.length === 0 ? first : undefined;
}
