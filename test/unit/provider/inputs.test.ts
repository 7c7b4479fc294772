import { describe, expect, it } from "vitest";
import { check, fill } from "../../../simulator/provider/mapping/inputs.ts";
import type { ResourceKind } from "../../../simulator/provider/mapping/kind.ts";
import { unknown } from "../../../simulator/provider/mapping/values.ts";
import { Provider } from "../../../simulator/provider/provider.ts";
import { kinds } from "../../../simulator/provider/registry.ts";
import type { JsonObject } from "../../../simulator/src/model.ts";

const kindNamed = (name: string) => kinds.find((kind) => kind.name === name) as ResourceKind;
const workload = kindNamed("Workload");
const base = { gvc: "demo", type: "standard" };
const filled = (inputs: JsonObject) => fill(workload, { ...base, ...inputs }, "sftp");
const failures = (inputs: JsonObject, kind = workload) =>
  check(kind, fill(kind, inputs, inputs.name ?? "sftp")).map(
    ({ property, reason }) => `${property}: ${reason}`,
  );

describe("what the program leaves out", () => {
  it("gets a description, empty tags and no blocks", () => {
    expect(filled({})).toEqual({
      ...base,
      name: "sftp",
      description: "sftp",
      tags: {},
      supportDynamicTags: false,
    });
  });

  it("gets the defaults of a block that is there, `suspend: false` among them", () => {
    expect(filled({ options: { autoscaling: {} } }).options).toEqual({
      timeoutSeconds: 5,
      capacityAi: true,
      debug: false,
      suspend: false,
      autoscaling: {
        metric: "concurrency",
        target: 95,
        minScale: 1,
        maxScale: 5,
        scaleToZeroDelay: 300,
        maxConcurrency: 0,
      },
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["several metrics", { multis: [{ metric: "cpu", target: 50 }] }, {}],
    ["KEDA", { keda: { triggers: [] } }, {}],
    ["the metric keda", { metric: "keda" }, { metric: "keda" }],
    ["a metric of its own", { metric: "disabled" }, { metric: "disabled", target: 95 }],
  ])("gets no metric that %s excludes", (_, autoscaling, expected) => {
    const result = filled({ localOptions: [{ location: "aws-eu-central-1", autoscaling }] });
    const [local] = result.localOptions as { suspend: boolean; autoscaling: JsonObject }[];
    expect(local?.suspend).toBe(false);
    expect({ metric: local?.autoscaling.metric, target: local?.autoscaling.target }).toEqual({
      metric: undefined,
      target: undefined,
      ...expected,
    });
  });

  it("gets a probe's numbers, and the container's first port", () => {
    const { containers } = filled({
      containers: [
        {
          name: "main",
          ports: [{ number: 2022 }],
          readinessProbe: { tcpSocket: {} },
          livenessProbe: { httpGet: { port: 8081 } },
        },
      ],
    });
    expect(containers).toMatchObject([
      {
        cpu: "50m",
        memory: "128Mi",
        inheritEnv: false,
        ports: [{ number: 2022, protocol: "http" }],
        readinessProbe: {
          tcpSocket: { port: 2022 },
          initialDelaySeconds: 10,
          periodSeconds: 10,
          timeoutSeconds: 1,
          successThreshold: 1,
          failureThreshold: 3,
        },
        livenessProbe: { httpGet: { port: 8081, path: "/", scheme: "HTTP" }, initialDelaySeconds: 60 },
      },
    ]);
  });

  it("gets closed lists for a firewall side that is there, and no side that is not", () => {
    expect(filled({ firewallSpec: { external: {} } }).firewallSpec).toEqual({
      external: {
        inboundAllowCidrs: [],
        inboundBlockedCidrs: [],
        outboundAllowCidrs: [],
        outboundBlockedCidrs: [],
        outboundAllowHostnames: [],
      },
    });
    expect(filled({ firewallSpec: { internal: {} } }).firewallSpec).toEqual({
      internal: { inboundAllowType: "none", inboundAllowWorkloads: [] },
    });
  });

  it("keeps scalars in the spelling of their type", () => {
    const result = filled({
      supportDynamicTags: "true",
      containers: [{ name: "main", env: { PORT: 2022 }, ports: [{ number: "2022" }] }],
    });
    expect(result).toMatchObject({
      supportDynamicTags: true,
      containers: [{ env: { PORT: "2022" }, ports: [{ number: 2022 }] }],
    });
  });
});

describe("what is not known yet", () => {
  it("passes at any depth, untouched and unchecked", () => {
    const inputs = {
      ...base,
      gvc: unknown,
      identityLink: unknown,
      options: { suspend: unknown, autoscaling: { minScale: unknown, multis: unknown } },
      localOptions: unknown,
      firewallSpec: { external: unknown, internal: { inboundAllowWorkloads: [unknown] } },
      containers: [
        { name: unknown, env: unknown, ports: [{ number: unknown }], readinessProbe: unknown },
        unknown,
      ],
      jobs: unknown,
    };
    const result = filled(inputs);
    expect(result).toMatchObject(inputs);
    expect(check(workload, result)).toEqual([]);
  });

  it("may be the name, and then is the description too", () => {
    expect(fill(workload, base, unknown)).toMatchObject({ name: unknown, description: unknown });
    expect(failures({ ...base, name: unknown })).toEqual([]);
  });

  it.each(["options", "containers", "firewallSpec", "tags"])("may stand for all of %s", (property) => {
    expect(failures({ ...base, [property]: unknown })).toEqual([]);
  });

  it("may be a policy's targets or a secret's data", () => {
    expect(failures({ targetKind: "workload", targetLinks: unknown }, kindNamed("Policy"))).toEqual([]);
    expect(failures({ opaque: unknown }, kindNamed("Secret"))).toEqual([]);
  });
});

describe("what is refused, all at once", () => {
  it.each<[string, JsonObject, string[]]>([
    ["a missing property", { gvc: "demo" }, ["type: a required property is missing"]],
    ["a name too short", { ...base, name: "g1" }, ['name: "g1" is no name']],
    ["a name too long", { ...base, name: "a".repeat(64) }, ["name: .* longer than 63"]],
    ["a property nobody knows", { ...base, suspend: true }, ["suspend: no such property"]],
    [
      "a nested one",
      { ...base, options: { autoscaling: {}, sleep: true } },
      ["options.sleep: no such property"],
    ],
    ["an output", { ...base, cplnId: "x" }, ["cplnId: no such property"]],
    ["a wrong type", { ...base, containers: { name: "main" } }, ["containers: a list is needed here"]],
    [
      "part of a number",
      { ...base, containers: [{ name: "m", port: 1.5 }] },
      ["containers\\[0\\].port: an integer"],
    ],
    ["text that is no JSON", { ...base, extras: "{" }, ["extras: JSON text"]],
    ["options without autoscaling", { ...base, options: {} }, ["options: an `autoscaling` block"]],
    [
      "two failures",
      { gvc: "demo", name: "x", containers: [{}] },
      ["name: ", "containers\\[0\\].name: a required", "type: a required"],
    ],
    ["a cron workload without a job", { gvc: "demo", type: "cron" }, ["jobs: "]],
    [
      "maxUnavailableReplicas on a stateful workload",
      { gvc: "demo", type: "stateful", rolloutOptions: [{ maxUnavailableReplicas: "1" }] },
      ["rolloutOptions\\[0\\].maxUnavailableReplicas"],
    ],
  ])("%s", (_, inputs, expected) => {
    const found = failures(inputs);
    expect(found).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(found[index]).toMatch(new RegExp(pattern));
  });

  it("a policy without targets, a secret without data or with two kinds of it", () => {
    expect(failures({ targetKind: "workload" }, kindNamed("Policy"))).toHaveLength(1);
    expect(failures({}, kindNamed("Secret"))).toHaveLength(1);
    expect(failures({ opaque: { payload: "x" }, dictionary: {} }, kindNamed("Secret"))).toHaveLength(1);
  });
});

describe("the name", () => {
  const named = (news: JsonObject, olds: JsonObject) =>
    new Provider().check(workload.token, { ...base, ...news }, olds, () => "logical-1a2b3c4").inputs.name;

  it("is the program's, else the one it had, else made up", () => {
    expect(named({ name: "sftp" }, { name: "old" })).toBe("sftp");
    expect(named({}, { name: "old" })).toBe("old");
    expect(named({}, {})).toBe("logical-1a2b3c4");
  });
});
