import { describe, expect, it } from "vitest";
import { home, startApi, workload } from "./support.ts";

describe("a GVC", () => {
  const gvc = "/org/local/gvc/second";

  it("keeps its locations sorted and full", async () => {
    const api = await startApi({ locations: ["aws-us-west-2", "aws-eu-central-1"] });
    const staticPlacement = { locationLinks: ["//location/aws-us-west-2", "//location/aws-eu-central-1"] };
    const { status, body } = await api.post("/org/local/gvc", { name: "second", spec: { staticPlacement } });
    expect(status).toBe(201);
    expect(body.spec.staticPlacement.locationLinks).toEqual([
      "/org/local/location/aws-eu-central-1",
      "/org/local/location/aws-us-west-2",
    ]);
    const added = await api.patch(gvc, {
      spec: { staticPlacement: { locationLinks: ["//location/aws-us-west-2"] } },
    });
    expect(added.body.alias).toBe(body.alias);
    expect(added.body.spec.staticPlacement.locationLinks).toEqual(["/org/local/location/aws-us-west-2"]);
  });

  it("runs nowhere but in locations", async () => {
    const api = await startApi();
    const spec = { staticPlacement: { locationLinks: ["//location/moon"] } };
    expect((await api.post("/org/local/gvc", { name: "second", spec })).status).toBe(400);
    expect((await api.post("/org/local/gvc", { name: "g1" })).status).toBe(400);
  });

  it("takes what lives in it along, unless it is protected", async () => {
    const api = await startApi();
    await api.deploy();
    await api.ok(api.patch(home, { tags: { "cpln/protected": "true" } }));
    expect((await api.delete(home)).status).toBe(400);
    await api.ok(api.patch(home, { tags: { "cpln/protected": null } }));
    expect((await api.delete(home)).status).toBe(202);
    expect((await api.get("/org/local/workload")).body.items).toEqual([]);
    expect((await api.get("/org/local/identity")).body.items).toEqual([]);
  });
});

describe("deleting", () => {
  it("is refused while something refers to it", async () => {
    const api = await startApi();
    await api.deploy();
    await api.ok(
      api.post("/org/local/ipset", { name: "fixed", spec: { link: "//gvc/demo/workload/target" } }),
    );
    const direct = {
      enabled: true,
      ipSet: "//ipset/fixed",
      ports: [{ externalPort: 22, protocol: "TCP", containerPort: 2222 }],
    };
    await api.ok(api.patch(`${home}/workload/target`, { spec: { loadBalancer: { direct } } }));
    const refused = await api.delete(`${home}/identity/proxy`);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain("refers to it");
    expect((await api.delete("/org/local/ipset/fixed")).status).toBe(400);
    // A policy holds on to nothing: not to its principals, not to its targets.
    await api.ok(api.delete(`${home}/workload/proxy`));
    await api.ok(api.delete(`${home}/identity/proxy`));
    await api.ok(api.delete(`${home}/workload/target`));
    await api.ok(api.delete("/org/local/ipset/fixed"));
  });

  it("is not, where that reading is chosen", async () => {
    const api = await startApi({ switches: { deleteReferenced: "allow" } });
    await api.deploy();
    expect((await api.delete(`${home}/identity/proxy`)).status).toBe(202);
  });
});

describe("a secret", () => {
  it("shows its data to whoever may reveal it", async () => {
    const api = await startApi();
    const created = await api.post("/org/local/secret", {
      name: "key",
      type: "opaque",
      data: { payload: "x" },
    });
    expect(created.body.data).toBeUndefined();
    expect((await api.get("/org/local/secret/key")).body.data).toBeUndefined();
    expect((await api.get("/org/local/secret/key/-reveal")).body).toMatchObject({
      name: "key",
      data: { payload: "x" },
    });
    const viewer = api.simulator.createToken("viewer", [{ kind: "secret", permissions: ["view"] }]);
    expect((await api.get("/org/local/secret/key", { authorization: viewer })).status).toBe(200);
    const refused = await api.get("/org/local/secret/key/-reveal", { authorization: viewer });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining("not granted [reveal]"),
    ]);
    expect((await api.patch("/org/local/secret/key", { type: "tls" })).status).toBe(400);
    await api.ok(api.patch("/org/local/secret/key", { data: { payload: "y" } }));
    expect((await api.get("/org/local/secret/key/-reveal")).body.data).toEqual({ payload: "y" });
  });
});

describe("an org and its locations", () => {
  it("can be looked at", async () => {
    const api = await startApi();
    expect((await api.get("/org/local")).body).toMatchObject({ kind: "org", name: "local" });
    expect((await api.patch("/org/local", { tags: { a: "b" } })).body.tags).toEqual({ a: "b" });
    expect((await api.get("/org/local/location/aws-us-west-2")).body).toMatchObject({ provider: "aws" });
    expect((await api.get("/discovery", { authorization: null })).body).toMatchObject({ endpoints: {} });
  });
});

describe("an ip set", () => {
  it("keeps full links", async () => {
    const api = await startApi();
    const spec = {
      link: "//gvc/demo/workload/w",
      locations: [{ name: "aws-us-west-2", retentionPolicy: "keep" }],
    };
    const { body } = await api.post("/org/local/ipset", { name: "fixed", spec });
    expect(body.spec).toEqual({
      link: "/org/local/gvc/demo/workload/w",
      locations: [{ name: "/org/local/location/aws-us-west-2", retentionPolicy: "keep" }],
    });
  });
});

describe("a workload's own paths", () => {
  const item = `${home}/workload/target`;

  it("list deployments, one a location, with replicas behind each", async () => {
    const api = await startApi({ locations: ["aws-us-west-2", "aws-eu-central-1"] });
    await api.deploy();
    api.simulator.platform.replicaNames.push("target-0");
    const { body } = await api.get(`${item}/deployment`);
    expect(body.items.map(({ name }: { name: string }) => name).sort()).toEqual([
      "aws-eu-central-1",
      "aws-us-west-2",
    ]);
    const one = (await api.get(`${item}/deployment/aws-us-west-2`)).body;
    expect(one).toMatchObject({ kind: "deployment", status: { internal: {}, versions: [{ workload: 1 }] } });
    expect((await api.get(`${item}/deployment/moon`)).status).toBe(404);
    const remote = new URL(one.status.remote);
    expect(remote.origin).toBe(api.simulator.apiUrl);
    expect((await api.get(`${remote.pathname}/replicas${item}`)).body).toEqual({
      items: ["target-0"],
      links: [],
    });
    expect((await api.get(`/replicas${item}`)).body.items).toHaveLength(2);
    expect((await api.get("/replicas/org/local")).status).toBe(404);
    expect((await api.get(`/-remote/moon/replicas${item}`)).status).toBe(404);
  });

  it("take the command to stop a replica, and no other", async () => {
    const api = await startApi();
    await api.deploy();
    api.simulator.platform.replicaNames.push("target-0");
    const spec = { location: "aws-us-west-2", replica: "target-0" };
    const stopped = await api.post(`${item}/-command`, { type: "stopReplica", spec });
    expect(stopped.status).toBe(201);
    expect((await api.get(String(stopped.headers.location))).body).toMatchObject({
      lifecycleStage: "completed",
    });
    expect((await api.get(`${item}/-command`)).body.items).toHaveLength(1);
    expect((await api.get(`${item}/-command/none`)).status).toBe(404);
    expect(api.simulator.platform.stopped).toEqual(["target-0"]);
    const other = { ...spec, replica: "target-9" };
    expect((await api.post(`${item}/-command`, { type: "stopReplica", spec: other })).status).toBe(400);
    expect((await api.post(`${item}/-command`, { type: "stopReplica" })).status).toBe(400);
    expect((await api.post(`${item}/-command`, { type: "runCronWorkload", spec })).status).toBe(501);
  });

  it("tell what happened", async () => {
    const api = await startApi();
    await api.deploy();
    await api.patch(item, { tags: { a: "b" } });
    const { body } = await api.get(`${item}/-eventlog`);
    expect(body).toMatchObject({ kind: "list", itemKind: "event" });
    expect(body.items.map(({ context }: { context: object }) => context)).toMatchObject([
      { operation: "edit", changed: "tags", version: 2, principal: "/org/local/serviceaccount/deployer" },
      { operation: "create", version: 1 },
    ]);
    await api.ok(api.delete(item));
    await api.ok(api.post(`${home}/workload`, workload("target")));
    expect((await api.get(`${item}/-eventlog`)).body.items).toHaveLength(1);
  });

  it("need an identity that is there, of the same GVC", async () => {
    const api = await startApi({ gvcs: ["demo", "other"] });
    await api.post("/org/local/gvc/other/identity", { name: "proxy" });
    for (const identityLink of ["//identity/none", "//gvc/other/identity/proxy", "/org/local/policy/p"]) {
      const { status, body } = await api.post(`${home}/workload`, workload("sftp", { identityLink }));
      expect([status, body.message]).toEqual([400, expect.stringContaining("spec.identityLink")]);
    }
  });
});
