/** A proxy that was made by hand becomes the component's, without moving its address. */
import type * as pulumi from "@pulumi/pulumi";
import { expect, it } from "vitest";
import type { Resource } from "../../simulator/src/model.ts";
import { ScaleToZeroTcp } from "../../src/index.ts";
import { withInlineStack } from "../support/engine.ts";
import { org, proxyArgs, useDocuments } from "./component-support.ts";
import { watch } from "./provider-support.ts";

const documents = useDocuments("prod");

/** The older proxy, as the platform's own templates made it. */
async function madeByHand(): Promise<void> {
  await documents.createTarget("prod", "sftp", "sftp-waker");
  const at = `/org/${org}/gvc/prod`;
  await documents.call("POST", `${at}/identity`, { name: "waker" });
  await documents.call("POST", `/org/${org}/policy`, {
    name: "wake-sftp",
    targetKind: "workload",
    targetLinks: [`${at}/workload/sftp`],
    bindings: [{ permissions: ["edit", "view"], principalLinks: [`${at}/identity/waker`] }],
  });
  await documents.call("POST", `${at}/workload`, {
    name: "sftp-waker",
    spec: {
      type: "standard",
      identityLink: `${at}/identity/waker`,
      containers: [
        {
          name: "proxy",
          image: "ghcr.io/controlplane-com/scale-to-zero-proxy:0.1.0",
          ports: [{ number: 10_022, protocol: "tcp" }],
          env: [
            { name: "TARGET_WORKLOAD", value: "sftp" },
            { name: "PORT_MAPPINGS", value: "10022:2222" },
          ],
        },
      ],
      defaultOptions: { autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 }, capacityAI: false },
      firewallConfig: { external: { inboundAllowCIDR: ["0.0.0.0/0"], outboundAllowCIDR: ["0.0.0.0/0"] } },
      loadBalancer: {
        direct: {
          enabled: true,
          ports: [{ externalPort: 22, protocol: "TCP", scheme: "tcp", containerPort: 10_022 }],
        },
      },
    },
  });
}

const names = { workloadName: "sftp-waker", identityName: "waker", policyName: "wake-sftp" };
const imports: Record<string, string> = {
  "cpln:index/identity:Identity": "prod:waker",
  "cpln:index/policy:Policy": "wake-sftp",
  "cpln:index/workload:Workload": "prod:sftp-waker",
};
const adopt: pulumi.ResourceTransform = ({ type, props, opts }) =>
  imports[type] === undefined ? undefined : { props, opts: { ...opts, import: imports[type] } as never };

it("by name and import, in place", async () => {
  await madeByHand();
  const kinds = [
    ["workload", "sftp-waker", "prod"],
    ["identity", "waker", "prod"],
    ["policy", "wake-sftp"],
  ] as const;
  const found = () => kinds.map(([kind, name, gvc]) => documents.get(kind, name, gvc));
  const before = found();
  let adopting = true;
  const program = async () => {
    const opts = adopting ? { transforms: [adopt] } : {};
    new ScaleToZeroTcp("sftp", { ...proxyArgs("prod", "sftp"), ...names }, opts);
  };
  await withInlineStack(
    program,
    async (stack) => {
      const { steps, onEvent } = watch();
      await stack.up({ onEvent });
      expect(steps.map((step) => step.replace(/:.*/, "")).sort()).toEqual([
        "create sftp",
        "import sftp-identity",
        "import sftp-policy",
        "import sftp-proxy",
        "update sftp-identity",
        "update sftp-policy",
        "update sftp-proxy",
      ]);
      // The same documents: so the same load balancer, and the address with it.
      const after = found();
      expect(after.map((each) => each?.id)).toEqual(before.map((each) => each?.id));
      expect(direct(after[0])).toMatchObject({ enabled: true });
      expect(direct(after[0])).toEqual(direct(before[0]));
      expect(after[2]?.bindings).toMatchObject([{ permissions: ["edit"] }]);
      expect(JSON.stringify(after[0]?.spec)).not.toContain("TARGET_WORKLOAD");

      adopting = false;
      const again = watch();
      await stack.up({ refresh: true, onEvent: again.onEvent });
      expect(again.steps.filter((step) => !step.startsWith("refresh"))).toEqual([]);
    },
    { env: documents.env },
  );
});

const direct = (workload: Resource | undefined): unknown =>
  (workload?.spec as { loadBalancer?: { direct: unknown } } | undefined)?.loadBalancer?.direct;
