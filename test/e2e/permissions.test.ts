/** A deployer's token that may do exactly what docs/permissions.md lists deploys; with one permission less it fails. */
import type { Stack } from "@pulumi/pulumi/automation/index.js";
import * as cpln from "@pulumiverse/cpln";
import { expect, it } from "vitest";
import { ignoreSuspend, proxyWorkloadLink, ScaleToZeroTcp } from "../../src/index.ts";
import { blocksOf } from "../support/doc-blocks.ts";
import { withInlineStack } from "../support/engine.ts";
import { deployerNeeds, grantsWithout, type Permission, type Phase } from "../support/permissions.ts";
import { useDocuments } from "./component-support.ts";

const documents = useDocuments("elsewhere");

const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim();
/** The platform's own words, as the page shows them. */
const quoted = inOneLine(blocksOf("docs/permissions.md", "text")[0]?.code ?? "");

let note = "one";
const program = async () => {
  const tags = { note };
  const gvc = new cpln.Gvc("gvc", { name: "files", locations: ["aws-us-west-2"], tags });
  const target = new cpln.Workload(
    "sftp",
    {
      name: "sftp",
      gvc: gvc.name,
      type: "standard",
      containers: [{ name: "main", image: "sftp:1", ports: [{ number: 2222, protocol: "tcp" }] }],
      options: { suspend: true, autoscaling: { metric: "disabled" }, capacityAi: false },
      firewallSpec: {
        internal: {
          inboundAllowType: "workload-list",
          inboundAllowWorkloads: [proxyWorkloadLink({ gvc: gvc.name, name: "sftp" })],
        },
      },
      tags,
    },
    { ignoreChanges: ignoreSuspend },
  );
  new ScaleToZeroTcp("sftp", {
    gvc: gvc.name,
    target,
    ports: [{ port: 22, target: 2222 }],
    allow: ["0.0.0.0/0"],
    tags,
  });
};

const operations: Record<Phase, (stack: Stack) => Promise<unknown>> = {
  create: (stack) => stack.up(),
  change: (stack) => {
    note = "two";
    return stack.up();
  },
  destroy: (stack) => stack.destroy(),
};

it("a deployer needs what is listed, each part of it, and nothing else", async () => {
  let tokens = 0;
  const become = (stack: Stack, missing?: Permission) => {
    tokens += 1;
    stack.workspace.envVars.CPLN_TOKEN = documents.it.createToken(
      `deployer-${tokens}`,
      grantsWithout(missing),
    );
  };
  await withInlineStack(
    program,
    async (stack) => {
      for (const phase of ["create", "change", "destroy"] as const) {
        for (const missing of deployerNeeds.filter((each) => each.phase === phase)) {
          become(stack, missing);
          const refused = await operations[phase](stack).then(
            () => "nothing was refused",
            (error: Error) => error.message,
          );
          expect(refused, `${missing.kind} ${missing.permission}`).toMatch(
            new RegExp(`not granted \\[${missing.permission}\\] on \\S*/${missing.kind}/`),
          );
          if (missing.permission === "configureLoadBalancer") {
            expect(inOneLine(refused).replace(/deployer-\d+/, "deployer")).toContain(quoted);
          }
        }
        become(stack);
        await operations[phase](stack);
      }
      expect(documents.get("gvc", "files")).toBeUndefined();
    },
    { env: documents.env },
  );
});
