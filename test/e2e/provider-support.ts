/** What the tests of the local provider share: a simulator of documents, another hand than Pulumi's, and an observer. */
import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { JsonObject } from "../../simulator/src/model.ts";

export const org = "acme";
export const workloads = `/org/${org}/gvc/demo/workload`;

/** One simulator for the tests of a file, its records empty at the start of each. */
export function useSimulator() {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ org, gvcs: ["demo"] });
  });
  afterAll(() => simulator.dispose());
  beforeEach(() => simulator.recorder.clear());

  return {
    get it() {
      return simulator;
    },
    get env() {
      return { CPLN_ENDPOINT: simulator.apiUrl, CPLN_ORG: org, CPLN_TOKEN: simulator.deployerToken };
    },
    async call(method: string, path: string, body?: JsonObject): Promise<void> {
      const response = await fetch(simulator.apiUrl + path, {
        method,
        headers: { authorization: `Bearer ${simulator.deployerToken}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    },
    /** The workload's spec as it is stored. */
    spec(name: string) {
      const workload = simulator.store.get({ org, kind: "workload", gvc: "demo", name });
      return workload?.spec as
        | {
            type: string;
            defaultOptions: { suspend: boolean };
            containers: { image: string; env?: JsonObject[] }[];
          }
        | undefined;
    },
    /** What was asked, in order: `POST /org/acme/gvc`. */
    asked: (...methods: string[]) =>
      simulator.recorder.matching({ method: methods }).map((call) => `${call.method} ${call.path}`),
  };
}

/** What an operation does to resources, with the paths that differ: `update sftp: options.suspend`. */
export function watch() {
  const steps: string[] = [];
  const onEvent = ({ resourcePreEvent }: EngineEvent) => {
    const step = resourcePreEvent?.metadata;
    if (step === undefined || step.op === "same" || step.type.startsWith("pulumi:")) return;
    const paths = Object.keys(step.detailedDiff ?? {});
    const name = step.urn.split("::").at(-1);
    steps.push([`${step.op} ${name}`, ...(paths.length > 0 ? [paths.join(" ")] : [])].join(": "));
  };
  return { steps, onEvent };
}

export interface Written {
  suspend?: boolean;
  image?: string;
  type?: string;
}

/** A program's workload, in as few words as the provider wants. */
export const written = (name: string, { suspend, image = "sftp:1", type = "standard" }: Written = {}) => ({
  name,
  gvc: "demo",
  type,
  containers: [{ name: "main", image, ports: [{ number: 2022, protocol: "tcp" }] }],
  options: {
    capacityAi: false,
    autoscaling: { metric: "disabled" },
    ...(suspend === undefined ? {} : { suspend }),
  },
});
