import { describe, expect, it } from "vitest";
import type { Grant } from "../../../simulator/src/api/tokens.ts";
import { type Api, home, startApi, workload } from "./support.ts";

const suspend = { spec: { defaultOptions: { suspend: true } } };

describe("a workload's token", () => {
  it("acts as its workload's identity: on what a policy names, and nowhere else", async () => {
    const api = await startApi({ switches: { deploymentReadable: "view" } });
    const authorization = api.simulator.platform.token((await api.deploy()).proxy);
    await api.ok(api.post(`${home}/workload`, workload("other")));
    const own = await api.patch(`${home}/workload/target`, suspend, { authorization });
    expect(own).toMatchObject({ status: 200, body: { spec: { defaultOptions: { suspend: true } } } });
    expect((await api.get(`${home}/workload/target/deployment`, { authorization })).status).toBe(200);
    const other = await api.patch(`${home}/workload/other`, suspend, { authorization });
    expect(other.status).toBe(403);
    expect(other.body.message).toContain("not granted [edit]");
    expect(other.body.message).toContain(`${home}/identity/proxy`);
    expect((await api.delete(`${home}/workload/target`, { authorization })).status).toBe(403);
    // Denied before any look: an outsider doesn't learn what exists.
    expect((await api.get(`${home}/workload/none`, { authorization })).status).toBe(403);
    const visible = await api.get(`${home}/workload`, { authorization });
    expect(visible.body.items.map(({ name }: { name: string }) => name)).toEqual(["target"]);
    const calls = api.simulator.recorder.matching({ principal: `${home}/identity/proxy` });
    expect(calls.map(({ headerForm }) => headerForm)).toEqual(Array(6).fill("raw"));
  });

  it("cannot touch the load balancer with edit", async () => {
    const api = await startApi();
    const authorization = api.simulator.platform.token((await api.deploy()).proxy);
    const direct = { enabled: true, ports: [{ externalPort: 22, protocol: "TCP", containerPort: 2222 }] };
    const body = { spec: { loadBalancer: { direct } } };
    const refused = await api.patch(`${home}/workload/target`, body, { authorization });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain("not granted [configureLoadBalancer]");
    await api.ok(api.patch(`${home}/workload/target`, body));
    // Sending it unchanged is no change.
    await api.ok(api.patch(`${home}/workload/target`, body, { authorization }));
  });

  it("is anonymous from anywhere but its workload's own address", async () => {
    const api = await startApi();
    const { proxy } = await api.deploy();
    const authorization = api.simulator.platform.token(proxy, "127.0.0.9");
    const item = `${home}/workload/target`;
    const elsewhere = await api.get(item, { authorization });
    expect(elsewhere).toMatchObject({ status: 403, body: { message: expect.stringContaining("anonymous") } });
    expect((await api.get(item, { authorization, from: "127.0.0.9" })).status).toBe(200);
  });

  it("is anonymous with a Bearer prefix, unless that form is accepted", async () => {
    const api = await startApi();
    const proxyToken = api.simulator.platform.token((await api.deploy()).proxy);
    const item = `${home}/workload/target`;
    expect((await api.get(item, { authorization: `Bearer ${proxyToken}` })).status).toBe(403);
    api.simulator.switches.workloadTokenForm = "raw-or-bearer";
    expect((await api.get(item, { authorization: `Bearer ${proxyToken}` })).status).toBe(200);
    expect((await api.get(item, { authorization: proxyToken })).status).toBe(200);
  });

  it("is anonymous without an identity", async () => {
    const api = await startApi();
    const { proxy } = await api.deploy();
    const authorization = api.simulator.platform.token(proxy);
    await api.ok(api.patch(`${home}/workload/${proxy.name}`, { spec: { identityLink: null } }));
    expect((await api.get(`${home}/workload/target`, { authorization })).status).toBe(403);
  });

  it("reaches nothing without an outbound rule, unless none is needed", async () => {
    const api = await startApi();
    const authorization = api.simulator.platform.token((await api.deploy()).proxy);
    const outbound = (external: object) =>
      api.ok(
        api.patch(`${home}/workload/proxy`, { spec: { firewallConfig: { "$replace/external": external } } }),
      );
    const item = `${home}/workload/target`;
    for (const external of [
      {},
      { outboundAllowCIDR: ["10.0.0.0/8"] },
      { outboundAllowHostname: ["example.com"] },
    ]) {
      await outbound(external);
      await expect(api.get(item, { authorization })).rejects.toThrow();
    }
    expect(api.simulator.recorder.matching({ where: ({ outcome }) => outcome === "cut" })).toHaveLength(3);
    await outbound({ outboundAllowHostname: ["api.cpln.io"] });
    expect((await api.get(item, { authorization })).status).toBe(200);
    await outbound({});
    api.simulator.switches.outboundRule = "not-needed";
    expect((await api.get(item, { authorization })).status).toBe(200);
  });

  it("loses its rights with the policy", async () => {
    const api = await startApi();
    const authorization = api.simulator.platform.token((await api.deploy()).proxy);
    const bindings = [{ permissions: ["edit"], principalLinks: ["//identity/proxy"] }];
    await api.ok(api.patch("/org/local/policy/wake", { bindings }));
    expect((await api.patch(`${home}/workload/target`, suspend, { authorization })).status).toBe(403);
  });
});

describe("a service account's token", () => {
  it("counts in both header forms; no other token does", async () => {
    const api = await startApi();
    const { deployerToken } = api.simulator;
    for (const authorization of [deployerToken, `Bearer ${deployerToken}`, `bearer ${deployerToken}`]) {
      expect((await api.get("/org/local", { authorization })).status).toBe(200);
    }
    expect(await api.get("/org/local", { authorization: "nobody's" })).toMatchObject({ status: 401 });
    expect(await api.get("/org/local", { authorization: null })).toMatchObject({ status: 403 });
    expect(await api.get("/org/local/workload", { authorization: null })).toMatchObject({ status: 403 });
    expect(deployerToken).toMatch(/^s\.[-_A-Za-z0-9]+$/);
  });
});

/** What a deployment of the examples does, as the provider does it. */
async function deployAll(api: Api, authorization: string): Promise<string | undefined> {
  const direct = { enabled: true, ports: [{ externalPort: 2022, protocol: "TCP", containerPort: 2222 }] };
  const proxy = workload("proxy", { identityLink: "//identity/proxy", loadBalancer: { direct } });
  const target = workload("target", {
    firewallConfig: {
      internal: { inboundAllowType: "workload-list", inboundAllowWorkload: ["//gvc/demo/workload/proxy"] },
    },
  });
  const policy = {
    name: "wake",
    targetKind: "workload",
    targetLinks: ["//gvc/demo/workload/target"],
    bindings: [{ permissions: ["edit"], principalLinks: ["//gvc/demo/identity/proxy"] }],
  };
  const steps: [string, string, unknown?][] = [
    ["POST", `${home}/identity`, { name: "proxy" }],
    ["GET", `${home}/identity/proxy`],
    ["POST", `${home}/workload`, target],
    ["GET", `${home}/workload/target`],
    ["POST", "/org/local/policy", policy],
    ["GET", "/org/local/policy/wake"],
    ["POST", `${home}/workload`, proxy],
    ["PATCH", `${home}/workload/target`, suspend],
    ["PATCH", `${home}/identity/proxy`, { description: "d" }],
    ["PATCH", "/org/local/policy/wake", { description: "d" }],
    ["DELETE", `${home}/workload/proxy`],
    ["DELETE", "/org/local/policy/wake"],
    ["DELETE", `${home}/workload/target`],
    ["DELETE", `${home}/identity/proxy`],
  ];
  for (const [method, path, body] of steps) {
    const { status, body: answer } = await api.call(method, path, body, { authorization });
    if (status >= 300) return `${status} ${answer.message}`;
  }
  return undefined;
}

describe("a deployer with the documented list of permissions", () => {
  const documented: Grant[] = [
    { kind: "workload", permissions: ["create", "edit", "delete", "configureLoadBalancer"] },
    { kind: "identity", permissions: ["create", "edit", "delete", "use"] },
    { kind: "policy", permissions: ["create", "edit", "delete"] },
  ];

  it("can deploy and destroy", async () => {
    const api = await startApi();
    expect(await deployAll(api, api.simulator.createToken("limited", documented))).toBeUndefined();
  });

  const lacking = documented.flatMap(({ kind, permissions }) =>
    permissions.map((permission) => [kind, permission] as const),
  );
  it.each(lacking)("cannot without %s %s, and is told so", async (kind, permission) => {
    const api = await startApi();
    const grants = documented.map((grant) => ({
      kind: grant.kind,
      permissions: grant.permissions.filter((one) => grant.kind !== kind || one !== permission),
    }));
    const told = await deployAll(api, api.simulator.createToken("limited", grants));
    // Without edit goes view as well, which edit brings: the first thing missed is the look at what was created.
    const named = permission === "edit" ? "(edit|view)" : permission;
    expect(told).toMatch(new RegExp(`^403 not granted \\[${named}\\] on .*${kind}/.*serviceaccount/limited`));
  });

  it("needs view on the workloads that it lets in", async () => {
    const api = await startApi();
    const only: Grant[] = [{ kind: "workload", permissions: ["create"] }];
    const authorization = api.simulator.createToken("creator", only);
    const target = workload("target", {
      firewallConfig: {
        internal: { inboundAllowType: "workload-list", inboundAllowWorkload: ["//gvc/demo/workload/x"] },
      },
    });
    const { status, body } = await api.post(`${home}/workload`, target, { authorization });
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining(`not granted [view] on ${home}/workload/x`),
    ]);
    expect((await api.get(`${home}/workload/target`)).status).toBe(404);
  });
});
