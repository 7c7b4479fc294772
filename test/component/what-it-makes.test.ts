import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { beforeEach, describe, expect, it } from "vitest";
import { ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import { outputsRegistered, type Registered, settledValue, startMocks } from "../support/mocks.ts";

const simple: ScaleToZeroTcpArgs = {
  gvc: "prod",
  target: "sftp",
  ports: [{ port: 22, target: 2022 }],
  allow: ["0.0.0.0/0"],
};

let registered: Registered[];
beforeEach(async () => {
  registered = await startMocks({ statuses: [{ canonicalEndpoint: "tcp://sftp-proxy.example.invalid:22" }] });
});

async function make(args: ScaleToZeroTcpArgs, opts?: pulumi.ComponentResourceOptions, name = "sftp") {
  const component = new ScaleToZeroTcp(name, args, opts);
  const made = component.resources();
  await Promise.all([component, ...Object.values(made)].map(({ urn }) => settledValue(urn)));
  await outputsRegistered(registered, name);
  const of = (type: string) => registered.find((each) => each.type === type) as Registered;
  return {
    component,
    identity: of("cpln:index/identity:Identity"),
    policy: of("cpln:index/policy:Policy"),
    workload: of("cpln:index/workload:Workload"),
  };
}

describe("for one target it makes", () => {
  it("exactly an identity, a policy and a workload, under the component", async () => {
    await make(simple);
    expect(registered.map(({ type, name }) => `${type} ${name}`).sort()).toEqual([
      "cpln-scale-to-zero:index:ScaleToZeroTcp sftp",
      "cpln:index/identity:Identity sftp-identity",
      "cpln:index/policy:Policy sftp-policy",
      "cpln:index/workload:Workload sftp-proxy",
    ]);
    const urn = "urn:pulumi:test::shop::cpln-scale-to-zero:index:ScaleToZeroTcp::sftp";
    expect(registered.slice(1).map(({ parent }) => parent)).toEqual([urn, urn, urn]);
  });

  it("an identity with nothing but a name", async () => {
    const { identity } = await make(simple);
    expect(identity.inputs).toEqual({
      name: "sftp-proxy",
      gvc: "prod",
      description: "Scale to zero for prod/sftp",
    });
  });

  it("a policy that lets this identity edit this target and nothing else", async () => {
    const { policy } = await make({ ...simple, targetGvc: "data" });
    expect(policy.inputs).toEqual({
      name: "sftp-proxy-prod",
      description: "Scale to zero for data/sftp",
      targetKind: "workload",
      gvc: "data",
      targetLinks: ["sftp"],
      bindings: [{ permissions: ["edit"], principalLinks: ["gvc/prod/identity/sftp-proxy"] }],
    });
  });

  it("the proxy workload, after its policy", async () => {
    const { workload } = await make(simple);
    expect(workload.dependencies.some((urn) => urn.includes("cpln:index/policy:Policy"))).toBe(true);
    expect(workload.inputs).toEqual({
      name: "sftp-proxy",
      gvc: "prod",
      type: "standard",
      description: "Scale to zero for prod/sftp",
      identityLink: "/org/acme/gvc/prod/identity/sftp-proxy",
      containers: [
        {
          name: "proxy",
          image: "ghcr.io/controlplane-com/scale-to-zero-proxy:0.2.0",
          cpu: "100m",
          memory: "128Mi",
          inheritEnv: false,
          env: {
            SETTINGS_VERSION: "1",
            TARGET_1:
              '{"workload":"sftp","gvc":"prod","ports":' +
              '[{"listen":10022,"target":2022,"readiness":"ssh","wakeOn":"fitting"}]}',
            OWN_GRACE: "1m30s",
          },
          ports: [{ number: 10_022, protocol: "tcp" }],
          readinessProbe: {
            httpGet: { path: "/readyz", port: 8081, scheme: "HTTP" },
            initialDelaySeconds: 1,
            periodSeconds: 5,
            timeoutSeconds: 5,
            failureThreshold: 2,
            successThreshold: 1,
          },
          livenessProbe: {
            httpGet: { path: "/healthz", port: 8081, scheme: "HTTP" },
            initialDelaySeconds: 10,
            periodSeconds: 20,
            timeoutSeconds: 10,
            failureThreshold: 5,
            successThreshold: 1,
          },
          lifecycle: { preStop: { exec: { commands: ["node", "/app/main.js", "prestop"] } } },
        },
      ],
      options: {
        autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 },
        capacityAi: false,
        suspend: false,
      },
      firewallSpec: {
        external: { inboundAllowCidrs: ["0.0.0.0/0"], outboundAllowHostnames: ["api.cpln.io"] },
        internal: { inboundAllowType: "none" },
      },
      loadBalancer: {
        direct: {
          enabled: true,
          ports: [{ externalPort: 22, protocol: "TCP", scheme: "tcp", containerPort: 10_022 }],
        },
      },
      rolloutOptions: [
        { maxSurgeReplicas: "1", maxUnavailableReplicas: "0", terminationGracePeriodSeconds: 90 },
      ],
    });
  });

  it("one load balancer port a mapping", async () => {
    const ports = [{ port: 22, target: 2022 }, { port: 9000 }, { port: 9001, listen: 9000, target: 9100 }];
    const { workload, component } = await make({ ...simple, ports });
    expect(workload.inputs.loadBalancer).toMatchObject({
      direct: {
        ports: [
          { externalPort: 22, containerPort: 10_022 },
          { externalPort: 9000, containerPort: 19_000 },
          { externalPort: 9001, containerPort: 9000 },
        ],
      },
    });
    expect(await settledValue(component.ports)).toBe("22,9000,9001");
  });

  it("outputs that are strings, registered once", async () => {
    const { component } = await make(simple);
    expect(await settledValue(component.workloadLink)).toBe("/org/acme/gvc/prod/workload/sftp-proxy");
    expect(await settledValue(component.identityLink)).toBe("/org/acme/gvc/prod/identity/sftp-proxy");
    expect(await settledValue(component.policyLink)).toBe("/org/acme/policy/sftp-proxy-prod");
    expect(await settledValue(component.host)).toBe("sftp-proxy.example.invalid");
    expect(await settledValue(component.ports)).toBe("22");
    expect(registered[0]?.outputsRegistered).toBe(1);
  });
});

describe("an argument changes just what it is about:", () => {
  it("expose internal makes no load balancer and admits the GVC", async () => {
    const { allow: _, ...rest } = simple;
    const { workload, component } = await make({ ...rest, expose: "internal" });
    expect(workload.inputs).not.toHaveProperty("loadBalancer");
    expect(workload.inputs.firewallSpec).toEqual({
      external: { inboundAllowCidrs: [], outboundAllowHostnames: ["api.cpln.io"] },
      internal: { inboundAllowType: "same-gvc" },
    });
    expect(await settledValue(component.host)).toBe("sftp-proxy.prod.cpln.local");
    expect(await settledValue(component.ports)).toBe("10022");
  });

  it("allowWorkloads admits those alone", async () => {
    const { workload } = await make({ ...simple, allowWorkloads: ["//gvc/prod/workload/app"] });
    expect(workload.inputs.firewallSpec).toMatchObject({
      internal: { inboundAllowType: "workload-list", inboundAllowWorkloads: ["//gvc/prod/workload/app"] },
    });
  });

  it("location runs the proxy there alone", async () => {
    const { workload } = await make({ ...simple, location: "aws-us-west-2" });
    expect(workload.inputs.options).toMatchObject({ autoscaling: { minScale: 0, maxScale: 0 } });
    expect(workload.inputs.localOptions).toEqual([
      {
        location: "aws-us-west-2",
        autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 },
        capacityAi: false,
        suspend: false,
      },
    ]);
  });

  it("exposeHealth declares the health port, and to the mesh alone", async () => {
    const { workload, component } = await make({ ...simple, exposeHealth: true });
    const ports = [
      { number: 10_022, protocol: "tcp" },
      { number: 8081, protocol: "http" },
    ];
    expect(workload.inputs.containers).toMatchObject([{ ports }]);
    expect((workload.inputs.loadBalancer as { direct: { ports: object[] } }).direct.ports).toHaveLength(1);
    expect(await settledValue(component.ports)).toBe("22");
  });

  it("grace moves the drain with it", async () => {
    const { workload } = await make({ ...simple, terminationGracePeriodSeconds: 600 });
    expect(workload.inputs.rolloutOptions).toMatchObject([{ terminationGracePeriodSeconds: 600 }]);
    expect(workload.inputs.containers).toMatchObject([{ env: { OWN_GRACE: "10m", DRAIN_TIMEOUT: "9m45s" } }]);
  });

  it("size, image, ipset, health port, env, tags and names arrive", async () => {
    const { workload, identity, policy } = await make({
      ...simple,
      cpu: "250m",
      memory: "256Mi",
      image: "registry.example.invalid/proxy:1",
      ipset: "static",
      healthPort: 8888,
      env: { EXTRA: "yes" },
      tags: { team: "files" },
      workloadName: "my-proxy",
      identityName: "my-identity",
      policyName: "my-policy",
    });
    expect(workload.inputs).toMatchObject({
      name: "my-proxy",
      tags: { team: "files" },
      loadBalancer: { direct: { ipset: "static" } },
      containers: [
        {
          cpu: "250m",
          memory: "256Mi",
          image: "registry.example.invalid/proxy:1",
          env: { EXTRA: "yes", HEALTH_PORT: "8888" },
          readinessProbe: { httpGet: { port: 8888 } },
          livenessProbe: { httpGet: { port: 8888 } },
        },
      ],
    });
    expect(identity.inputs).toMatchObject({ name: "my-identity", tags: { team: "files" } });
    expect(policy.inputs).toMatchObject({
      name: "my-policy",
      tags: { team: "files" },
      bindings: [{ principalLinks: ["gvc/prod/identity/my-identity"] }],
    });
  });
});

describe("the target may be", () => {
  it.each([
    ["a link", "//gvc/data/workload/db"],
    ["a full link", "/org/acme/gvc/data/workload/db"],
  ])("%s", async (_, target) => {
    const { policy, workload } = await make({ ...simple, target });
    expect(policy.inputs).toMatchObject({ gvc: "data", targetLinks: ["db"] });
    expect(JSON.stringify(workload.inputs)).toContain('{\\"workload\\":\\"db\\",\\"gvc\\":\\"data\\"');
  });

  it("the workload itself, whose GVC is then the default", async () => {
    const target = new cpln.Workload("db", { gvc: "data", type: "standard", name: "db" });
    const { policy } = await make({ ...simple, target });
    expect(policy.inputs).toMatchObject({ gvc: "data", targetLinks: ["db"] });
    expect(policy.dependencies).toContain(await settledValue(target.urn));
  });
});

describe("options of the component", () => {
  it.each<[string, (provider: cpln.Provider) => pulumi.ComponentResourceOptions]>([
    ["provider", (provider) => ({ provider })],
    ["providers as a list", (provider) => ({ providers: [provider] })],
    ["providers as a map", (provider) => ({ providers: { cpln: provider } })],
  ])("%s reaches every child", async (_, optionsFor) => {
    const provider = new cpln.Provider("second", { org: "acme" });
    const { identity, policy, workload } = await make(simple, optionsFor(provider));
    for (const child of [identity, policy, workload]) expect(child.provider).toContain("::second::");
  });

  it("parent puts it under that", async () => {
    const parent = new pulumi.ComponentResource("test:index:Parent", "parent");
    await make(simple, { parent });
    const component = registered.find(({ name }) => name === "sftp");
    expect(component?.parent).toContain("test:index:Parent::parent");
  });

  it("protect reaches every child", async () => {
    const { identity, policy, workload } = await make(simple, { protect: true });
    expect([identity, policy, workload].map(({ options }) => options.protect)).toEqual([true, true, true]);
  });
});
