import { describe, expect, it } from "vitest";
import { home, startApi, workload } from "./support.ts";

const item = `${home}/workload/sftp`;

describe("a document", () => {
  it("is created with a Location, and read there", async () => {
    const api = await startApi();
    const created = await api.post(`${home}/workload`, workload("sftp"));
    expect(created.status).toBe(201);
    expect(created.headers.location).toBe(item);
    const read = await api.get(item);
    expect(read).toMatchObject({
      status: 200,
      body: {
        kind: "workload",
        name: "sftp",
        version: 1,
        description: "sftp",
        tags: {},
        status: { internalName: "sftp.demo.cpln.local" },
        health: {},
      },
    });
    expect(read.body.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(read.body.links).toEqual(
      expect.arrayContaining([
        { rel: "self", href: item },
        { rel: "gvc", href: home },
        { rel: "deployment", href: `${item}/deployment` },
      ]),
    );
  });

  it("exists once", async () => {
    const api = await startApi();
    await api.post(`${home}/identity`, { name: "proxy" });
    const twin = await api.post(`${home}/identity`, { name: "proxy" });
    expect(twin).toMatchObject({ status: 409, body: { status: 409, code: "CONFLICT", details: {} } });
    expect(twin.body.message).toContain("already exists");
    expect(twin.body.id).toBeTypeOf("string");
  });

  it("is put to its collection, whether there or not", async () => {
    const api = await startApi();
    const first = await api.put(`${home}/workload`, { kind: "workload", gvc: "demo", ...workload("sftp") });
    expect([first.status, first.headers.location]).toEqual([201, item]);
    const second = await api.put(`${home}/workload`, { ...workload("sftp"), tags: { a: "b" } });
    expect([second.status, second.headers.location]).toEqual([200, undefined]);
    expect(second.body).toMatchObject({ version: 2, tags: { a: "b" }, id: first.body.id });
  });

  it("is put as an item; a dry run only checks", async () => {
    const api = await startApi();
    const dry = await api.put(`${item}?dryRun=true`, workload("sftp"));
    expect(dry.status).toBe(200);
    expect((await api.get(item)).status).toBe(404);
    expect((await api.put(`${item}?dryRun=true`, workload("sftp", { type: "x" }))).status).toBe(400);
    expect((await api.put(item, workload("sftp"))).status).toBe(201);
    expect((await api.put(item, workload("other"))).status).toBe(400);
  });

  it("is patched as the provider does, and as the proxy does", async () => {
    const api = await startApi();
    await api.post(`${home}/workload`, { ...workload("sftp"), tags: { old: "1" } });
    const suspended = await api.patch(item, { spec: { defaultOptions: { suspend: true } } });
    expect(suspended.body).toMatchObject({ version: 2, spec: { defaultOptions: { suspend: true } } });
    expect(suspended.body.spec.containers).toHaveLength(1);
    const replaced = await api.patch(item, {
      name: "sftp",
      description: "a server",
      "$replace/tags": { "cpln/managedByTerraform": "true" },
      "$replace/spec": workload("sftp").spec,
    });
    expect(replaced.body).toMatchObject({ version: 3, description: "a server" });
    expect(replaced.body.tags).toEqual({ "cpln/managedByTerraform": "true" });
    expect(replaced.body.spec.defaultOptions).toBeUndefined();
    expect(replaced.body.status).toBeTypeOf("object");
  });

  it("ignores what the platform writes itself, so that a client may send back what it read", async () => {
    const api = await startApi();
    await api.post(`${home}/workload`, workload("sftp"));
    const { body } = await api.get(item);
    const back = await api.patch(item, {
      ...body,
      spec: { ...body.spec, defaultOptions: { suspend: true } },
    });
    expect(back).toMatchObject({ status: 200, body: { id: body.id, created: body.created, version: 2 } });
    const clone = await api.post(`${home}/workload`, { ...body, name: "clone" });
    expect(clone).toMatchObject({ status: 201, body: { name: "clone", version: 1 } });
    expect(clone.body.id).not.toBe(body.id);
  });

  it("takes texts for booleans and numbers", async () => {
    const api = await startApi();
    await api.post(`${home}/workload`, workload("sftp"));
    const options = { suspend: "true", autoscaling: { metric: "disabled", minScale: "2", maxScale: "3" } };
    const { body } = await api.patch(item, { spec: { defaultOptions: options } });
    expect(body.spec.defaultOptions).toEqual({
      suspend: true,
      autoscaling: { metric: "disabled", minScale: 2, maxScale: 3 },
    });
  });

  it("is not changed by a stale version, nor by a refused patch", async () => {
    const api = await startApi();
    await api.post(`${home}/workload`, workload("sftp"));
    await api.patch(item, { tags: { a: "1" }, version: 1 });
    const stale = await api.patch(item, { tags: { a: "2" }, version: 1 });
    expect(stale).toMatchObject({ status: 409, body: { details: { version: 2 } } });
    expect((await api.patch(item, { spec: { type: "stateful" } })).status).toBe(400);
    expect((await api.patch(item, { $odd: [] })).status).toBe(400);
    expect((await api.patch(item, { name: "other" })).status).toBe(400);
    expect((await api.patch(item, { gvc: "other" })).status).toBe(400);
    expect((await api.patch(item, { kind: "gvc" })).status).toBe(400);
    expect((await api.patch(item, { org: "local" })).status).toBe(400);
    expect((await api.patch(item, undefined, { raw: "{" })).status).toBe(400);
    expect((await api.patch(item, [])).status).toBe(400);
    expect((await api.get(item)).body).toMatchObject({ version: 2, tags: { a: "1" } });
  });

  it("has limits on its envelope", async () => {
    const api = await startApi();
    const tags = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`t${index}`, "x"]));
    expect((await api.post(`${home}/identity`, { name: "one", tags })).status).toBe(400);
    expect((await api.post(`${home}/identity`, { name: "one", tags: { a: {} } })).status).toBe(400);
    expect((await api.post(`${home}/identity`, { name: "one", description: "x".repeat(251) })).status).toBe(
      400,
    );
    expect((await api.post(`${home}/identity`, {})).body.message).toContain('"name" is required');
    expect((await api.put(`${home}/identity`, {})).body.message).toContain('"name" is required');
  });

  it("is deleted with 202, and gone", async () => {
    const api = await startApi();
    await api.post(`${home}/workload`, workload("sftp"));
    expect(await api.delete(item)).toMatchObject({ status: 202, body: undefined });
    expect((await api.get(item)).status).toBe(404);
    expect((await api.delete(item)).status).toBe(404);
    expect((await api.patch(item, {})).status).toBe(404);
  });

  it("cannot live in a GVC that is not there", async () => {
    const api = await startApi();
    expect((await api.post("/org/local/gvc/none/identity", { name: "proxy" })).status).toBe(404);
    expect((await api.get("/org/local/gvc/none/identity")).status).toBe(404);
    expect((await api.get("/org/other")).status).toBe(404);
  });
});

describe("collections", () => {
  it("list one GVC, or all of them", async () => {
    const api = await startApi({ gvcs: ["demo", "other"] });
    await api.post(`${home}/workload`, workload("sftp"));
    await api.post("/org/local/gvc/other/workload", workload("sftp"));
    const [one, all] = [await api.get(`${home}/workload`), await api.get("/org/local/workload")];
    expect(one.body).toMatchObject({ kind: "list", itemKind: "workload", links: [{ rel: "self" }] });
    expect([one.body.items.length, all.body.items.length]).toEqual([1, 2]);
    expect((await api.get("/org")).body.items).toHaveLength(1);
    expect((await api.get("/org/local/location")).body.items[0]).toMatchObject({ name: "aws-us-west-2" });
  });

  it("answer queries", async () => {
    const api = await startApi();
    for (const name of ["one", "two"])
      await api.post(`${home}/workload`, { ...workload(name), tags: { name } });
    const names = async (spec: object) => {
      const { status, body } = await api.post("/org/local/workload/-query", { spec });
      return status === 200 ? body.items.map((found: { name: string }) => found.name) : status;
    };
    expect(await names({ match: "all", terms: [{ op: "=", property: "name", value: "one" }] })).toEqual([
      "one",
    ]);
    expect(await names({ match: "any", terms: [{ tag: "name", value: "two" }] })).toEqual(["two"]);
    expect(await names({ terms: [{ rel: "gvc", value: home }] })).toEqual(["one", "two"]);
    expect(await names({ match: "odd" })).toBe(400);
    const { body } = await api.post("/org/local/workload/-query", { spec: { terms: [] } });
    expect(body).toMatchObject({ kind: "queryresult", itemKind: "workload", links: [{ rel: "self" }] });
    expect(body.query.spec).toEqual({ match: "all", terms: [] });
  });

  it("tell what can be granted", async () => {
    const api = await startApi();
    const { body } = await api.get("/org/local/workload/-schema/permissions");
    expect(body).toMatchObject({ kind: "permissions", targetKind: "workload", implied: { edit: ["view"] } });
    expect(body.items.map(({ name }: { name: string }) => name)).toContain("configureLoadBalancer");
  });
});

describe("what is not implemented", () => {
  it.each([
    ["GET", "/org/local/domain"],
    ["POST", "/org/local/location"],
    ["PATCH", "/org/local/location/aws-us-west-2"],
    ["DELETE", "/org/local"],
    ["POST", "/org/local/workload"],
    ["GET", `${home}/workload/sftp/-accessreport`],
    ["GET", "/bad-url"],
    ["POST", "/discovery"],
    ["OPTIONS", item],
  ])("%s %s is a 501, and recorded", async (method, path) => {
    const api = await startApi();
    expect(await api.call(method, path)).toMatchObject({ status: 501, body: { code: "NOT_IMPLEMENTED" } });
    expect(api.simulator.recorder.notImplemented).toMatchObject([{ method, path, status: 501 }]);
  });
});
