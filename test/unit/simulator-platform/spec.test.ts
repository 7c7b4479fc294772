import { describe, expect, test } from "vitest";
import type { JsonObject, Resource } from "../../../simulator/src/model.ts";
import { bytes, readLocationSpec } from "../../../simulator/src/platform/spec.ts";

const limits = { probeTimeScale: 1, maxReplicas: 3 };
const workload = (spec: JsonObject, more: JsonObject = {}): Resource => ({
  id: "1",
  kind: "workload",
  name: "db",
  version: 4,
  description: "",
  tags: {},
  created: "",
  lastModified: "",
  spec: { type: "standard", containers: [{ name: "main", image: "i" }], ...spec },
  ...more,
});
const read = (spec: JsonObject, more: JsonObject = {}) =>
  readLocationSpec(workload(spec, more), 1, "aws-eu-1", limits);

describe("what a location is to run", () => {
  test("what the document leaves out is the platform's default", () => {
    expect(read({})).toMatchObject({
      suspended: false,
      replicas: 1,
      graceMs: 90_000,
      surge: 1,
      unavailable: 0,
      workloadVersion: 4,
    });
  });

  test.each([
    [{ defaultOptions: { suspend: true } }, true],
    [{ defaultOptions: { suspend: "true" } }, true],
    [
      {
        defaultOptions: { suspend: true },
        localOptions: [{ location: "//location/aws-eu-1", suspend: false }],
      },
      false,
    ],
    [{ defaultOptions: { suspend: true }, localOptions: [{ location: "/org/o/location/aws-eu-1" }] }, true],
    [{ localOptions: [{ location: "//location/elsewhere", suspend: true }] }, false],
  ])("%j is suspended: %s", (spec, expected) => {
    expect(read(spec).suspended).toBe(expected);
  });

  test.each([
    [{ minScale: 2, maxScale: 5 }, 2],
    [{ minScale: 9, maxScale: 9 }, 3],
    [{ minScale: 0, maxScale: 0 }, 0],
    [{ minScale: 0, maxScale: 5 }, 1],
    [{ minScale: "2" }, 2],
  ])("autoscaling %j is %d replicas", (autoscaling, expected) => {
    expect(read({ defaultOptions: { autoscaling } }).replicas).toBe(expected);
  });

  test("cron runs nothing here", () => {
    expect(read({ type: "cron" }).replicas).toBe(0);
  });

  test("rollout options are counts or shares", () => {
    const autoscaling = { minScale: 3, maxScale: 3 };
    const rolloutOptions = { maxSurgeReplicas: "50%", maxUnavailableReplicas: "50%" };
    expect(read({ rolloutOptions, defaultOptions: { autoscaling } })).toMatchObject({
      surge: 2,
      unavailable: 1,
    });
    expect(read({ rolloutOptions: { maxSurgeReplicas: "2", maxUnavailableReplicas: 0 } })).toMatchObject({
      surge: 2,
      unavailable: 0,
    });
  });

  test("a stateful workload rolls one by one, in order unless told otherwise", () => {
    expect(read({ type: "stateful" })).toMatchObject({ surge: 0, unavailable: 1, ordered: true });
    expect(read({ type: "stateful", rolloutOptions: { scalingPolicy: "Parallel" } }).ordered).toBe(false);
  });

  test("probes have a kubelet's defaults, and liveness waits longer", () => {
    const containers = [
      {
        name: "main",
        image: "i",
        ports: [{ number: 2022, protocol: "tcp" }],
        readinessProbe: { tcpSocket: {} },
        livenessProbe: { httpGet: { port: 8081, path: "/healthz" } },
      },
    ];
    const [container] = read({ containers }).containers;
    expect(container?.readiness).toEqual({
      action: { kind: "tcp", port: 2022 },
      initialDelayMs: 10_000,
      periodMs: 10_000,
      timeoutMs: 1_000,
      successThreshold: 1,
      failureThreshold: 3,
    });
    expect(container?.liveness).toMatchObject({
      action: { kind: "http", port: 8081, path: "/healthz", headers: [] },
      initialDelayMs: 60_000,
    });
  });
});

describe("what makes replicas be replaced", () => {
  const template = (spec: JsonObject, more?: JsonObject) => read(spec, more).template;
  const before = template({});

  test.each<[string, JsonObject, JsonObject | undefined, boolean]>([
    ["another image", { containers: [{ name: "main", image: "j" }] }, undefined, true],
    ["a load balancer", { loadBalancer: { direct: { enabled: true } } }, undefined, true],
    ["a forced redeployment", {}, { tags: { "cpln/deployTimestamp": "1" } }, true],
    ["a tag", {}, { tags: { team: "a" } }, false],
    ["a suspend", { defaultOptions: { suspend: true } }, undefined, false],
    ["a firewall", { firewallConfig: { internal: { inboundAllowType: "same-org" } } }, undefined, false],
  ])("%s", (_, spec, more, replaced) => {
    expect(template(spec, more) !== before).toBe(replaced);
  });

  test("the order of a document's keys does not", () => {
    const a = template({ containers: [{ name: "main", image: "i", cpu: "1" }] });
    const b = template({ containers: [{ cpu: "1", image: "i", name: "main" }] });
    expect(a).toBe(b);
  });
});

test.each([
  ["128Mi", 134_217_728],
  ["1Gi", 1_073_741_824],
  ["100M", 100_000_000],
  ["nonsense", 134_217_728],
])("%s is %d bytes", (quantity, expected) => {
  expect(bytes(quantity)).toBe(expected);
});
