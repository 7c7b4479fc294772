/** What the tests of the component under the real engine share: documents alone, which nothing runs. */
import { afterAll, beforeAll } from "vitest";
import { nothingRuns, type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { JsonObject, Platform, Resource } from "../../simulator/src/model.ts";
import type { ScaleToZeroTcpArgs } from "../../src/index.ts";

export const org = "acme";
export const locations = ["aws-us-west-2", "aws-eu-central-1"];

/** One simulator for a file, with GVCs of one location each. */
export function useDocuments(...gvcs: string[]) {
  let simulator: Simulator<Platform>;
  beforeAll(async () => {
    simulator = await startSimulator({
      org,
      locations,
      gvcs: gvcs.map((name) => ({ name, locations: ["aws-us-west-2"] })),
      platform: nothingRuns,
    });
  });
  afterAll(() => simulator.dispose());

  const call = async (method: string, path: string, body?: JsonObject): Promise<void> => {
    const response = await fetch(simulator.apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${simulator.deployerToken}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  };
  return {
    get it() {
      return simulator;
    },
    get env() {
      return { CPLN_ENDPOINT: simulator.apiUrl, CPLN_ORG: org, CPLN_TOKEN: simulator.deployerToken };
    },
    call,
    get(kind: string, name: string, gvc?: string): Resource | undefined {
      return simulator.store.get({ org, kind, name, ...(gvc === undefined ? {} : { gvc }) });
    },
    /** A workload by another hand than Pulumi's, which lets a proxy of this name in. */
    createTarget: (gvc: string, name: string, proxy: string, port = 2222) =>
      call("POST", `/org/${org}/gvc/${gvc}/workload`, {
        name,
        spec: {
          type: "standard",
          containers: [{ name: "main", image: `${name}:1`, ports: [{ number: port, protocol: "tcp" }] }],
          defaultOptions: { suspend: false, autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 } },
          firewallConfig: {
            internal: {
              inboundAllowType: "workload-list",
              inboundAllowWorkload: [`//gvc/${gvc}/workload/${proxy}`],
            },
          },
        },
      }),
    suspended(gvc: string, name: string): boolean | undefined {
      const spec = simulator.store.get({ org, kind: "workload", gvc, name })?.spec as JsonObject | undefined;
      return (spec?.defaultOptions as { suspend?: boolean } | undefined)?.suspend;
    },
  };
}

/** The arguments of a component for a target on port 2222. */
export const proxyArgs = (gvc: string, target: string): ScaleToZeroTcpArgs => ({
  gvc,
  target,
  ports: [{ port: 22, target: 2222 }],
  allow: ["0.0.0.0/0"],
});
