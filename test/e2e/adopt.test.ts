/** A proxy that was made by hand becomes the component's, without moving its address, as docs/adopt.md says. */
import { expect, it } from "vitest";
import type { Resource } from "../../simulator/src/model.ts";
import { blocksOf } from "../support/doc-blocks.ts";
import { runProgram } from "../support/doc-programs.ts";
import { withInlineStack } from "../support/engine.ts";
import { org, useDocuments } from "./component-support.ts";
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

/** The guide's own program. */
const told = blocksOf("docs/adopt.md", "ts")[0]?.code ?? "";

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
  const program = async () => runProgram(adopting ? told : told.replace("{ transforms: [adopt] }", "{}"));
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
      expect(told).toContain("{ transforms: [adopt] }");
      const again = watch();
      await stack.up({ refresh: true, onEvent: again.onEvent });
      expect(again.steps.filter((step) => !step.startsWith("refresh"))).toEqual([]);
    },
    { env: documents.env },
  );
});

const direct = (workload: Resource | undefined): unknown =>
  (workload?.spec as { loadBalancer?: { direct: unknown } } | undefined)?.loadBalancer?.direct;
