import { describe, expect, it } from "vitest";
import { decode } from "../../../simulator/provider/mapping/decode.ts";
import { encode } from "../../../simulator/provider/mapping/encode.ts";
import { fill } from "../../../simulator/provider/mapping/inputs.ts";
import type { ResourceKind } from "../../../simulator/provider/mapping/kind.ts";
import { kinds } from "../../../simulator/provider/registry.ts";
import type { JsonObject } from "../../../simulator/src/model.ts";

const kindNamed = (name: string) => kinds.find((kind) => kind.name === name) as ResourceKind;

const payload = (name: string, inputs: JsonObject) => {
  const kind = kindNamed(name);
  return encode(kind, fill(kind, inputs, inputs.name ?? "sftp"), "acme");
};
const spec = (inputs: JsonObject) => payload("Workload", { gvc: "demo", type: "standard", ...inputs }).spec;

describe("a workload's payload", () => {
  it("is an envelope without the GVC, and the provider's own tags", () => {
    expect(
      payload("Workload", { gvc: "demo", type: "standard", tags: { a: "1", "cpln/deployTimestamp": "x" } }),
    ).toEqual({
      name: "sftp",
      description: "sftp",
      tags: { a: "1", "cpln/managedByTerraform": "true", "cpln/terraformProviderVersion": "" },
      spec: { type: "standard", supportDynamicTags: false },
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      "options and local options",
      {
        options: {
          capacityAi: false,
          capacityAiUpdateMinutes: 5,
          autoscaling: { multis: [{ metric: "cpu", target: 60 }] },
        },
        localOptions: [
          { location: "aws-us-west-2", autoscaling: { metric: "disabled", minScale: 0, maxScale: 0 } },
        ],
      },
      {
        defaultOptions: {
          capacityAI: false,
          capacityAIUpdateMinutes: 5,
          timeoutSeconds: 5,
          debug: false,
          suspend: false,
          autoscaling: {
            multi: [{ metric: "cpu", target: 60 }],
            minScale: 1,
            maxScale: 5,
            scaleToZeroDelay: 300,
            maxConcurrency: 0,
          },
        },
        localOptions: [
          {
            location: "/org/acme/location/aws-us-west-2",
            capacityAI: true,
            timeoutSeconds: 5,
            debug: false,
            suspend: false,
            autoscaling: {
              metric: "disabled",
              target: 95,
              minScale: 0,
              maxScale: 0,
              scaleToZeroDelay: 300,
              maxConcurrency: 0,
            },
          },
        ],
      },
    ],
    [
      "the firewall",
      {
        firewallSpec: {
          external: {
            inboundAllowCidrs: ["0.0.0.0/0"],
            outboundAllowPorts: [{ protocol: "tcp", number: 443 }],
          },
          internal: {
            inboundAllowType: "workload-list",
            inboundAllowWorkloads: ["//gvc/demo/workload/proxy"],
          },
        },
      },
      {
        firewallConfig: {
          external: {
            inboundAllowCIDR: ["0.0.0.0/0"],
            inboundBlockedCIDR: [],
            outboundAllowCIDR: [],
            outboundBlockedCIDR: [],
            outboundAllowHostname: [],
            outboundAllowPort: [{ protocol: "tcp", number: 443 }],
          },
          internal: {
            inboundAllowType: "workload-list",
            inboundAllowWorkload: ["//gvc/demo/workload/proxy"],
          },
        },
      },
    ],
    [
      "the direct load balancer, its set of addresses by name",
      {
        loadBalancer: {
          direct: {
            enabled: true,
            ipset: "addresses",
            ports: [{ externalPort: 22, protocol: "TCP", scheme: "tcp", containerPort: 2022 }],
          },
        },
      },
      {
        loadBalancer: {
          replicaDirect: false,
          direct: {
            enabled: true,
            ipSet: "/org/acme/ipset/addresses",
            ports: [{ externalPort: 22, protocol: "TCP", scheme: "tcp", containerPort: 2022 }],
          },
        },
      },
    ],
    [
      "rollout options, jobs and the sidecar, which are lists or text only in a program",
      {
        rolloutOptions: [{ maxSurgeReplicas: "1" }],
        jobs: [{ schedule: "* * * * *" }],
        sidecar: { envoy: '{"clusters":[]}' },
        extras: '{"a": 1}',
      },
      {
        rolloutOptions: {
          minReadySeconds: 0,
          maxSurgeReplicas: "1",
          scalingPolicy: "OrderedReady",
          terminationGracePeriodSeconds: 90,
        },
        job: { schedule: "* * * * *", concurrencyPolicy: "Forbid", historyLimit: 5, restartPolicy: "Never" },
        sidecar: { envoy: { clusters: [] } },
        extras: { a: 1 },
      },
    ],
    [
      "renamed leaves",
      {
        securityOptions: { fileSystemGroupId: 1000, runAsUser: 1000 },
        requestRetryPolicy: { retryOns: ["unavailable"] },
      },
      {
        securityOptions: { filesystemGroupId: 1000, runAsUser: 1000 },
        requestRetryPolicy: { attempts: 2, retryOn: ["unavailable"] },
      },
    ],
  ])("carries %s", (_, inputs, expected) => {
    expect(spec(inputs)).toEqual({ type: "standard", supportDynamicTags: false, ...expected });
  });

  it("carries containers: env sorted by name, probes' commands, GPUs together", () => {
    const written = {
      containers: [
        {
          name: "main",
          image: "sftp:1",
          workingDirectory: "/srv",
          env: { B: "2", A: "1" },
          readinessProbe: { exec: { commands: ["true"] } },
          lifecycle: { preStop: { exec: { commands: ["drain"] } } },
          gpuNvidia: { model: "t4", quantity: 1 },
        },
      ],
    };
    expect(spec(written)).toMatchObject({
      containers: [
        {
          name: "main",
          image: "sftp:1",
          workingDir: "/srv",
          env: [
            { name: "A", value: "1" },
            { name: "B", value: "2" },
          ],
          readinessProbe: { exec: { command: ["true"] }, initialDelaySeconds: 10 },
          lifecycle: { preStop: { exec: { command: ["drain"] } } },
          gpu: { nvidia: { model: "t4", quantity: 1 } },
        },
      ],
    });
  });
});

describe("reading back", () => {
  const kind = kindNamed("Workload");
  const document = {
    id: "6f2c8b1e-0000-4000-8000-000000000000",
    name: "sftp",
    description: "sftp",
    version: 4,
    tags: { "cpln/managedByTerraform": "true", "cpln/deployTimestamp": "x", team: "files" },
    links: [
      { rel: "org", href: "/org/acme" },
      { rel: "self", href: "/org/acme/gvc/demo/workload/sftp" },
    ],
    spec: {
      type: "standard",
      identityLink: "/org/acme/gvc/demo/identity/sftp",
      firewallConfig: {
        internal: {
          inboundAllowType: "workload-list",
          inboundAllowWorkload: ["/org/acme/gvc/demo/workload/a", "/org/acme/gvc/demo/workload/b"],
        },
      },
    },
    status: {
      internalName: "sftp.demo.cpln.local",
      healthCheck: { active: true },
      loadBalancer: [{ url: "u", origin: "o" }],
    },
  };
  const internal = (inputs: JsonObject) =>
    (inputs.firewallSpec as { internal?: JsonObject } | undefined)?.internal;

  it("gives outputs that are no inputs, and hides the tags that are nobody's", () => {
    const { inputs, outputs } = decode(kind, document, { gvc: "demo" }, "acme");
    expect(outputs).toMatchObject({
      cplnId: document.id,
      selfLink: "/org/acme/gvc/demo/workload/sftp",
      gvc: "demo",
      tags: { team: "files" },
      statuses: [
        {
          internalName: "sftp.demo.cpln.local",
          healthChecks: [{ active: true }],
          loadBalancers: [{ url: "u", origin: "o" }],
        },
      ],
    });
    expect(Object.keys(inputs)).not.toEqual(expect.arrayContaining(["cplnId"]));
    expect(inputs.identityLink).toBe("/org/acme/gvc/demo/identity/sftp");
  });

  it("keeps the program's short links and its order of a set", () => {
    const prior = {
      gvc: "demo",
      identityLink: "//gvc/demo/identity/sftp",
      firewallSpec: {
        internal: { inboundAllowWorkloads: ["//gvc/demo/workload/b", "/org/acme/gvc/demo/workload/a"] },
      },
    };
    const { inputs } = decode(kind, document, prior, "acme");
    expect(inputs.identityLink).toBe("//gvc/demo/identity/sftp");
    expect(internal(inputs)?.inboundAllowWorkloads).toEqual([
      "//gvc/demo/workload/b",
      "/org/acme/gvc/demo/workload/a",
    ]);
  });

  it("shows a link that somebody changed, and a set that grew", () => {
    const prior = {
      gvc: "demo",
      identityLink: "//gvc/demo/identity/other",
      firewallSpec: { internal: { inboundAllowWorkloads: ["//gvc/demo/workload/b"] } },
    };
    const { inputs } = decode(kind, document, prior, "acme");
    expect(inputs.identityLink).toBe("/org/acme/gvc/demo/identity/sftp");
    expect(internal(inputs)?.inboundAllowWorkloads).toEqual([
      "/org/acme/gvc/demo/workload/a",
      "//gvc/demo/workload/b",
    ]);
  });

  it("takes an empty list that the API leaves out for the same", () => {
    const prior = {
      gvc: "demo",
      firewallSpec: { internal: { inboundAllowType: "none", inboundAllowWorkloads: [] } },
    };
    const spec = { type: "standard", firewallConfig: { internal: { inboundAllowType: "none" } } };
    expect(internal(decode(kind, { ...document, spec }, prior, "acme").inputs)).toEqual(
      prior.firewallSpec.internal,
    );
  });
});

describe("a policy's links", () => {
  const kind = kindNamed("Policy");
  const links = (targetLinks: string[], principalLinks: string[], gvc?: string) => {
    const bindings = [{ permissions: ["edit"], principalLinks }];
    const inputs = {
      name: "sftp",
      targetKind: "workload",
      targetLinks,
      bindings,
      ...(gvc === undefined ? {} : { gvc }),
    };
    const sent = payload("Policy", inputs) as {
      targetLinks: string[];
      bindings: { principalLinks: string[] }[];
    };
    const read = decode(kind, sent as unknown as JsonObject, inputs, "acme").inputs as typeof inputs;
    return {
      sent: [sent.targetLinks[0], sent.bindings[0]?.principalLinks[0]],
      read: [read.targetLinks[0], read.bindings[0]?.principalLinks[0]],
      gvc: read.gvc,
    };
  };

  it("are kept when they are whole", () => {
    const whole = ["/org/acme/gvc/demo/workload/sftp", "/org/acme/gvc/demo/identity/proxy"] as const;
    expect(links([whole[0]], [whole[1]])).toMatchObject({ sent: whole, read: whole });
  });

  it("are made of a bare name and the policy's GVC, which the API never answers with", () => {
    expect(links(["sftp"], ["gvc/demo/identity/proxy"], "demo")).toEqual({
      sent: ["/org/acme/gvc/demo/workload/sftp", "/org/acme/gvc/demo/identity/proxy"],
      read: ["sftp", "gvc/demo/identity/proxy"],
      gvc: "demo",
    });
  });

  it("are mangled when they are short, and do not come back", () => {
    expect(links(["//gvc/demo/workload/sftp"], ["//gvc/demo/identity/proxy"])).toMatchObject({
      sent: ["/org/acme/workload///gvc/demo/workload/sftp", "/org/acme///gvc/demo/identity/proxy"],
      read: ["sftp", "//gvc/demo/identity/proxy"],
    });
  });
});

describe("a secret", () => {
  it.each<[string, JsonObject, JsonObject]>([
    ["opaque", { payload: "s3cret" }, { payload: "s3cret", encoding: "plain" }],
    ["dictionary", { a: "1" }, { a: "1" }],
  ])("of type %s is its data", (type, data, sent) => {
    const document = payload("Secret", { name: "key", [type]: data });
    expect(document).toMatchObject({ type, data: sent });
    const { inputs, outputs } = decode(kindNamed("Secret"), document, {}, "acme");
    expect(inputs[type]).toEqual(sent);
    expect(outputs.secretLink).toBe("cpln://secret/key");
    expect(outputs.dictionaryAsEnvs).toEqual(type === "dictionary" ? { a: "cpln://secret/key.a" } : {});
  });
});

describe("the PATCH of an update", () => {
  it.each<[string, JsonObject, string[]]>([
    [
      "Workload",
      { gvc: "demo", type: "standard" },
      ["$replace/spec", "$replace/tags", "description", "name"],
    ],
    ["Gvc", { locations: ["aws-eu-central-1"] }, ["$replace/spec", "$replace/tags", "description", "name"]],
    ["Identity", { gvc: "demo" }, ["$replace/tags", "description", "name"]],
    [
      "Policy",
      { targetKind: "workload", targetLinks: ["/org/acme/gvc/demo/workload/sftp"] },
      [
        "$replace/tags",
        "bindings",
        "description",
        "name",
        "target",
        "targetKind",
        "targetLinks",
        "targetQuery",
      ],
    ],
    [
      "Secret",
      { opaque: { payload: "x" } },
      ["$replace/data", "$replace/tags", "description", "name", "type"],
    ],
  ])("of a %s holds exactly", (name, inputs, keys) => {
    expect(Object.keys(kindNamed(name).patch(payload(name, inputs))).sort()).toEqual(keys);
  });

  it("of a policy takes targets away with null", () => {
    const body = kindNamed("Policy").patch(payload("Policy", { targetKind: "workload", targetLinks: [] }));
    expect(body).toMatchObject({ target: null, targetQuery: null });
  });
});
