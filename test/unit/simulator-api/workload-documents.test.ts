import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newResource } from "../../../simulator/src/api/envelope.ts";
import { at } from "../../../simulator/src/documents/json.ts";
import { checkShape, type Problem } from "../../../simulator/src/documents/schema.ts";
import { workloadFields } from "../../../simulator/src/documents/workload-fields.ts";
import { normaliseWorkload } from "../../../simulator/src/documents/workload-normalise.ts";
import { reservedPorts, workloadProblems } from "../../../simulator/src/documents/workload-rules.ts";
import type { Json, JsonObject } from "../../../simulator/src/model.ts";

const key = { org: "o", kind: "workload", gvc: "g", name: "sftp" };
const container: JsonObject = { name: "main", image: "x:1" };

function problemsOf(spec: JsonObject, tags: JsonObject = {}, wasType?: string): string[] {
  const problems: Problem[] = [];
  const whole = { type: "standard", containers: [container], ...spec };
  const checked = checkShape(workloadFields, { spec: whole }, "", problems);
  if (problems.length > 0) return problems.map(({ path }) => path);
  const make = (body: JsonObject) =>
    normaliseWorkload(newResource("workload", "sftp", { tags, ...body }, 0), key);
  const before = wasType === undefined ? undefined : make({ spec: { ...whole, type: wasType } });
  return workloadProblems(make(checked), before).map(({ path }) => path);
}

const withContainer = (more: JsonObject): JsonObject => ({ containers: [{ ...container, ...more }] });
const scaling = (autoscaling: JsonObject, more: JsonObject = {}): JsonObject => ({
  defaultOptions: { autoscaling, ...more },
});
const lbPort = (externalPort: number, more: JsonObject = {}): JsonObject => ({
  loadBalancer: { direct: { enabled: true, ports: [{ externalPort, protocol: "TCP", ...more }] } },
});

describe("a workload is refused for", () => {
  const rows: [string, JsonObject, string[], JsonObject?][] = [
    ["nothing", {}, []],
    ["an unknown member", { nonsense: 1 }, ["spec.nonsense"]],
    ["no containers", { containers: [] }, ["spec.containers"]],
    ["nine containers", { containers: Array(9).fill(container) as Json[] }, ["spec.containers"]],
    ["no image", { containers: [{ name: "main" }] }, ["spec.containers[0].image"]],
    ["a container's name", withContainer({ name: "cpln-x" }), ["spec.containers[0].name"]],
    ["two of a name", { containers: [container, container] }, ["spec.containers[1].name"]],
    ["port 22", withContainer({ ports: [{ number: 22 }] }), ["spec.containers[0].ports[0].number"]],
    [
      "a twin port",
      withContainer({ ports: [{ number: 80 }, { number: 80 }] }),
      ["spec.containers[0].ports[1].number"],
    ],
    ["the old port said twice", withContainer({ port: 80, ports: [{ number: 80 }] }), []],
    [
      "a protocol",
      withContainer({ ports: [{ number: 80, protocol: "udp" }] }),
      ["spec.containers[0].ports[0].protocol"],
    ],
    [
      "a probe of two kinds",
      withContainer({ readinessProbe: { tcpSocket: { port: 80 }, exec: { command: ["x"] } } }),
      ["spec.containers[0].readinessProbe"],
    ],
    ["a probe of none", withContainer({ livenessProbe: {} }), ["spec.containers[0].livenessProbe"]],
    [
      "a probe on a reserved port",
      withContainer({ readinessProbe: { tcpSocket: { port: 9090 } } }),
      ["spec.containers[0].readinessProbe.tcpSocket.port"],
    ],
    [
      "a failure threshold",
      withContainer({ readinessProbe: { tcpSocket: { port: 80 }, failureThreshold: 21 } }),
      ["spec.containers[0].readinessProbe.failureThreshold"],
    ],
    [
      "a variable's name",
      withContainer({ env: [{ name: "CPLN_X", value: "" }] }),
      ["spec.containers[0].env[0].name"],
    ],
    [
      "a variable of Knative",
      withContainer({ env: [{ name: "K_SERVICE", value: "" }] }),
      ["spec.containers[0].env[0].name"],
    ],
    [
      "a variable's form",
      withContainer({ env: [{ name: "1x", value: "" }] }),
      ["spec.containers[0].env[0].name"],
    ],
    [
      "a long value",
      withContainer({ env: [{ name: "X", value: "v".repeat(4097) }] }),
      ["spec.containers[0].env[0].value"],
    ],
    ["little CPU", withContainer({ cpu: "24m", memory: "128Mi" }), ["spec.containers[0].cpu"]],
    ["little memory", withContainer({ memory: "31Mi" }), ["spec.containers[0].memory"]],
    ["memory for the CPU", withContainer({ cpu: "50m", memory: "401Mi" }), ["spec.containers[0].memory"]],
    [
      "more memory, relaxed",
      withContainer({ cpu: "50m", memory: "401Mi" }),
      [],
      { "cpln/relaxMemoryToCpuRatio": "true" },
    ],
    ["a minimum above", withContainer({ minCpu: "100m" }), ["spec.containers[0].minCpu"]],
    [
      "a stateful gap",
      { type: "stateful", ...withContainer({ cpu: "1", memory: "1Gi", minCpu: "100m" }) },
      ["spec.containers[0].minCpu"],
    ],
    ["the same gap, standard", withContainer({ cpu: "1", memory: "1Gi", minCpu: "100m" }), []],
    [
      "concurrency on standard",
      scaling({ metric: "concurrency" }),
      ["spec.defaultOptions.autoscaling.metric"],
    ],
    [
      "latency on serverless",
      {
        type: "serverless",
        ...withContainer({ ports: [{ number: 80 }] }),
        ...scaling({ metric: "latency" }),
      },
      ["spec.defaultOptions.autoscaling.metric"],
    ],
    [
      "scaling to zero",
      scaling({ metric: "disabled", minScale: 0, maxScale: 1 }),
      ["spec.defaultOptions.autoscaling.minScale"],
    ],
    ["zero and zero", scaling({ metric: "disabled", minScale: 0, maxScale: 0 }), []],
    ["zero with keda", scaling({ metric: "keda", minScale: 0, maxScale: 1 }), []],
    [
      "more than the maximum",
      scaling({ metric: "disabled", minScale: 3, maxScale: 2 }),
      ["spec.defaultOptions.autoscaling.minScale"],
    ],
    [
      "Capacity AI with cpu",
      scaling({ metric: "cpu" }, { capacityAI: true }),
      ["spec.defaultOptions.capacityAI"],
    ],
    [
      "Capacity AI with a GPU",
      {
        ...withContainer({ gpu: { nvidia: { model: "t4", quantity: 1 } } }),
        ...scaling({}, { capacityAI: true }),
      },
      ["spec.defaultOptions.capacityAI"],
    ],
    [
      "a local option",
      { localOptions: [{ location: "//location/l", autoscaling: { metric: "concurrency" } }] },
      ["spec.localOptions[0].autoscaling.metric"],
    ],
    [
      "a location twice",
      { localOptions: [{ location: "//location/l" }, { location: "/org/o/location/l" }] },
      ["spec.localOptions[1].location"],
    ],
    ["a bare location", { localOptions: [{ location: "l" }] }, ["spec.localOptions[0].location"]],
    [
      "a serverless tcp port",
      { type: "serverless", ...withContainer({ ports: [{ number: 80, protocol: "tcp" }] }) },
      ["spec.containers[0].ports[0].protocol"],
    ],
    ["no serverless port", { type: "serverless" }, ["spec.containers"]],
    [
      "a cron port",
      { type: "cron", job: { schedule: "* * * * *" }, ...withContainer({ ports: [{ number: 80 }] }) },
      ["spec.containers"],
    ],
    ["a cron without schedule", { type: "cron" }, ["spec.job"]],
    ["external port 21", lbPort(21), ["spec.loadBalancer.direct.ports[0].externalPort"]],
    ["external port 32769", lbPort(32_769), ["spec.loadBalancer.direct.ports[0].externalPort"]],
    ["external port 22", lbPort(22, { containerPort: 2222 }), []],
    [
      "a reserved container port",
      lbPort(22, { containerPort: 9090 }),
      ["spec.loadBalancer.direct.ports[0].containerPort"],
    ],
    [
      "replicaDirect on standard",
      { loadBalancer: { replicaDirect: true } },
      ["spec.loadBalancer.replicaDirect"],
    ],
    ["replicaDirect on stateful", { type: "stateful", loadBalancer: { replicaDirect: true } }, []],
    [
      "a long grace",
      { rolloutOptions: { terminationGracePeriodSeconds: 901 } },
      ["spec.rolloutOptions.terminationGracePeriodSeconds"],
    ],
    [
      "a long grace, relaxed",
      { rolloutOptions: { terminationGracePeriodSeconds: 3600 } },
      [],
      { "cpln/relaxGracePeriodMax": true },
    ],
    [
      "a workload list entry",
      { firewallConfig: { internal: { inboundAllowWorkload: ["//workload/w"] } } },
      ["spec.firewallConfig.internal.inboundAllowWorkload[0]"],
    ],
    [
      "other entries",
      {
        firewallConfig: {
          internal: {
            inboundAllowWorkload: [
              "//gvc/g/workload/w",
              "/org/o/gvc/g/workload/w",
              "cpln://internal/keda",
              "//agent/a",
            ],
          },
        },
      },
      [],
    ],
  ];
  it.each(rows)("%s", (_title, spec, paths, tags) => {
    expect(problemsOf(spec, tags)).toEqual(paths);
  });

  it("a changed type", () => {
    expect(problemsOf({}, {}, "stateful")).toEqual(["spec.type"]);
  });

  it.each(reservedPorts)("reserved port %i", (number) => {
    expect(problemsOf(withContainer({ ports: [{ number }] }))).toHaveLength(1);
  });

  it("takes every other port of the range", () => {
    fc.assert(
      fc.property(fc.integer({ min: 80, max: 65_535 }), (number) => {
        fc.pre(!reservedPorts.includes(number));
        expect(problemsOf(withContainer({ ports: [{ number, protocol: "tcp" }] }))).toEqual([]);
      }),
    );
  });
});

describe("a workload is kept", () => {
  const keep = (spec: JsonObject, type = "standard") =>
    normaliseWorkload(
      newResource("workload", "sftp", { spec: { type, containers: [container], ...spec } }, 0),
      key,
    );

  it.each([
    ["with its type", {}, "spec.type", "standard"],
    ["with default CPU", {}, "spec.containers.0.cpu", "50m"],
    ["with default memory", {}, "spec.containers.0.memory", "128Mi"],
    [
      "with a full identity link",
      { identityLink: "//identity/i" },
      "spec.identityLink",
      "/org/o/gvc/g/identity/i",
    ],
    [
      "with sorted variables",
      withContainer({
        env: [
          { name: "B", value: "" },
          { name: "A", value: "" },
        ],
      }),
      "spec.containers.0.env.0.name",
      "A",
    ],
    [
      "with a protocol",
      withContainer({ ports: [{ number: 80 }] }),
      "spec.containers.0.ports.0.protocol",
      "http",
    ],
    [
      "with a delay of readiness",
      withContainer({ readinessProbe: { tcpSocket: {} } }),
      "spec.containers.0.readinessProbe.initialDelaySeconds",
      10,
    ],
    [
      "with a delay of liveness",
      withContainer({ livenessProbe: { tcpSocket: {} } }),
      "spec.containers.0.livenessProbe.initialDelaySeconds",
      60,
    ],
    [
      "with a given delay",
      withContainer({ livenessProbe: { initialDelaySeconds: 1 } }),
      "spec.containers.0.livenessProbe.initialDelaySeconds",
      1,
    ],
    ["without probes", {}, "spec.containers.0.readinessProbe", undefined],
    [
      "with sorted CIDRs",
      { firewallConfig: { external: { inboundAllowCIDR: ["2.0.0.0/8", "1.0.0.0/8", "2.0.0.0/8"] } } },
      "spec.firewallConfig.external.inboundAllowCIDR",
      ["1.0.0.0/8", "2.0.0.0/8"],
    ],
    [
      "without an external block",
      { firewallConfig: { internal: {} } },
      "spec.firewallConfig.external",
      undefined,
    ],
    [
      "with a closed internal one",
      { firewallConfig: { internal: {} } },
      "spec.firewallConfig.internal.inboundAllowType",
      "none",
    ],
    ["with a grace", { rolloutOptions: {} }, "spec.rolloutOptions.terminationGracePeriodSeconds", 90],
    [
      "with maxUnavailable",
      { rolloutOptions: { maxUnavailableReplicas: "1" } },
      "spec.rolloutOptions.maxUnavailableReplicas",
      "1",
    ],
    [
      "with no metric under Capacity AI",
      { defaultOptions: { capacityAI: true } },
      "spec.defaultOptions.autoscaling.metric",
      "disabled",
    ],
    ["without options", {}, "spec.defaultOptions", undefined],
    [
      "with full locations",
      { localOptions: [{ location: "//location/l" }] },
      "spec.localOptions.0.location",
      "/org/o/location/l",
    ],
    ["without a load balancer", {}, "spec.loadBalancer", undefined],
  ] as [string, JsonObject, string, Json | undefined][])("%s", (_title, spec, path, expected) => {
    const kept = keep(spec);
    expect(at(kept, path)).toEqual(expected);
    expect(normaliseWorkload(kept, key)).toEqual(kept);
  });

  it("drops maxUnavailable where the platform does", () => {
    const kept = keep({ rolloutOptions: { maxUnavailableReplicas: "1" } }, "stateful");
    expect(at(kept, "spec.rolloutOptions")).toEqual({ terminationGracePeriodSeconds: 90 });
  });

  it("as serverless when it doesn't say", () => {
    const bare = newResource("workload", "sftp", { spec: { containers: [container] } }, 0);
    expect(at(normaliseWorkload(bare, key), "spec.type")).toBe("serverless");
  });
});
