/** The load balancer's host, which the platform fills in late: what is recorded of it, and what `endpointOf` finds. */
import * as cpln from "@pulumiverse/cpln";
import { afterAll, beforeAll, expect, it } from "vitest";
import { nothingRuns, type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { Platform } from "../../simulator/src/model.ts";
import { endpointOf, ScaleToZeroTcp } from "../../src/index.ts";
import { withInlineStack } from "../support/engine.ts";
import { org, proxyArgs } from "./component-support.ts";

/** What the platform says of the proxy's load balancer. */
let host: string | undefined;
let simulator: Simulator<Platform>;

beforeAll(async () => {
  simulator = await startSimulator({
    org,
    gvcs: ["prod"],
    platform: (seams) => {
      const documents = nothingRuns(seams);
      return {
        ...documents,
        workloadStatus: (key) => {
          const { status, health } = documents.workloadStatus(key);
          const { canonicalEndpoint: _, ...rest } = status;
          if (host === undefined || key.name !== "sftp-proxy") return { status: rest, health };
          return { status: { ...rest, canonicalEndpoint: `tcp://${host}:22` }, health };
        },
      };
    },
  });
});
afterAll(() => simulator.dispose());

const program = async () => {
  const sftp = new ScaleToZeroTcp("sftp", { ...proxyArgs("prod", "sftp"), preflight: false });
  const asked = endpointOf(sftp);
  // A record of DNS, or whatever else takes it.
  new cpln.Identity("user", {
    gvc: "prod",
    name: "user",
    description: asked.apply((at) => at ?? "none yet"),
  });
  return { recorded: sftp.host, asked };
};

it("is found by an update without a refresh, where the output is what was recorded", async () => {
  const env = { CPLN_ENDPOINT: simulator.apiUrl, CPLN_ORG: org, CPLN_TOKEN: simulator.deployerToken };
  const user = () => simulator.store.get({ org, kind: "identity", gvc: "prod", name: "user" })?.description;
  await withInlineStack(
    program,
    async (stack) => {
      const hosts = async (refresh = false) => {
        const { outputs } = await stack.up({ refresh });
        return [outputs.recorded?.value, outputs.asked?.value];
      };
      expect(await hosts()).toEqual([undefined, undefined]);
      expect(user()).toBe("none yet");

      host = "first.example.invalid";
      expect(await hosts()).toEqual([undefined, host]);
      expect(user()).toBe(host);

      host = "moved.example.invalid";
      const { changeSummary } = await stack.preview();
      expect(changeSummary).toMatchObject({ update: 1 });
      expect(await hosts()).toEqual([undefined, host]);
      expect(user()).toBe(host);

      expect(await hosts(true)).toEqual([host, host]);
      await stack.preview({ expectNoChanges: true });
    },
    { env },
  );
});
