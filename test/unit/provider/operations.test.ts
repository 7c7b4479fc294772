import { describe, expect, it } from "vitest";
import { unknown } from "../../../simulator/provider/mapping/values.ts";
import { Provider } from "../../../simulator/provider/provider.ts";
import type { JsonObject } from "../../../simulator/src/model.ts";
import { type Answer, fakeApi } from "./fake-api.ts";

const workload = "cpln:index/workload:Workload";
const policy = "cpln:index/policy:Policy";
const secret = "cpln:index/secret:Secret";

const providerOf = (...answers: Answer[]) => {
  const api = fakeApi(...answers);
  const provider = new Provider(api.around);
  provider.configure({ org: "acme", endpoint: "http://127.0.0.1:1", token: "t" }, {});
  return { ...api, provider };
};

const document = (suspend = false): JsonObject => ({
  id: "1d4a7c9e-0000-4000-8000-000000000000",
  name: "sftp",
  description: "sftp",
  tags: {},
  links: [{ rel: "self", href: "/org/acme/gvc/demo/workload/sftp" }],
  spec: { type: "standard", defaultOptions: { suspend } },
  status: {},
});
const inputs = { name: "sftp", gvc: "demo", type: "standard", description: "sftp", tags: {} };

describe("create", () => {
  it("posts the document, then reads it", async () => {
    const { provider, lines, calls } = providerOf(201, [200, document()]);
    const state = await provider.create(workload, inputs);
    expect(lines()).toEqual(["POST /org/acme/gvc/demo/workload", "GET /org/acme/gvc/demo/workload/sftp"]);
    expect(calls[0]?.body).toMatchObject({ name: "sftp", spec: { type: "standard" } });
    expect(state.id).toBe("sftp");
    expect(state.outputs).toMatchObject({ cplnId: document().id, gvc: "demo", options: { suspend: false } });
  });

  it("reads a secret's data where it is revealed", async () => {
    const { provider, lines } = providerOf(201, [
      200,
      { name: "key", type: "opaque", data: { payload: "x" } },
    ]);
    const { outputs } = await provider.create(secret, { name: "key", opaque: { payload: "x" } });
    expect(lines()[1]).toBe("GET /org/acme/secret/key/-reveal");
    expect(outputs.opaque).toEqual({ payload: "x" });
  });

  it("says that the name is taken", async () => {
    await expect(providerOf([409, {}]).provider.create(workload, inputs)).rejects.toThrow(
      'workload "sftp" already exists: import it',
    );
  });

  it("in a preview calls nobody, and does not know what only the API can say", () => {
    const { provider, calls } = providerOf();
    const news = { ...inputs, identityLink: unknown };
    expect(provider.previewCreate(workload, news)).toEqual({
      ...news,
      cplnId: unknown,
      selfLink: unknown,
      statuses: unknown,
    });
    expect(calls).toEqual([]);
  });
});

describe("read", () => {
  it("finds the live state for inputs and outputs both", async () => {
    const { provider } = providerOf([200, document(true)]);
    const prior = { ...inputs, options: { suspend: false } };
    const state = await provider.read(workload, "sftp", prior, prior);
    expect(state?.inputs.options).toEqual({ suspend: true });
    expect(state?.outputs.options).toEqual({ suspend: true });
  });

  it("says nothing of what is gone", async () => {
    await expect(
      providerOf([404, {}]).provider.read(workload, "sftp", inputs, inputs),
    ).resolves.toBeUndefined();
  });

  it("passes other failures on", async () => {
    await expect(providerOf([403, {}]).provider.read(workload, "sftp", inputs, inputs)).rejects.toThrow(
      "403",
    );
  });

  it("imports GVC:NAME", async () => {
    const { provider, lines } = providerOf([200, document()]);
    const state = await provider.read(workload, "demo:sftp", {}, {});
    expect(lines()).toEqual(["GET /org/acme/gvc/demo/workload/sftp"]);
    expect(state).toMatchObject({ id: "sftp", inputs: { gvc: "demo", name: "sftp" } });
  });

  it("wants to know the GVC", async () => {
    await expect(providerOf().provider.read(workload, "sftp", {}, {})).rejects.toThrow(
      "imported as GVC:NAME",
    );
  });

  it("carries forward what the API does not answer with", async () => {
    const live = { name: "sftp", targetKind: "workload", targetLinks: ["/org/acme/gvc/demo/workload/sftp"] };
    const prior = { name: "sftp", targetKind: "workload", gvc: "demo", targetLinks: ["sftp"] };
    const state = await providerOf([200, live]).provider.read(policy, "sftp", prior, prior);
    expect(state?.inputs).toEqual(prior);
  });
});

describe("update and delete", () => {
  it("replaces the whole spec, without a version", async () => {
    const { provider, lines, calls } = providerOf([200, {}], [200, document(true)]);
    await provider.update(workload, "sftp", { ...inputs, options: { suspend: true } });
    expect(lines()).toEqual([
      "PATCH /org/acme/gvc/demo/workload/sftp",
      "GET /org/acme/gvc/demo/workload/sftp",
    ]);
    expect(calls[0]?.body).toEqual({
      name: "sftp",
      description: "sftp",
      "$replace/tags": { "cpln/managedByTerraform": "true", "cpln/terraformProviderVersion": "" },
      "$replace/spec": { type: "standard", defaultOptions: { suspend: true } },
    });
  });

  it("in a preview keeps what only the API can say, and drops what the program dropped", () => {
    const olds = { ...inputs, cplnId: "1", extras: "{}", statuses: [] };
    expect(providerOf().provider.previewUpdate(workload, olds, inputs)).toMatchObject({
      ...inputs,
      cplnId: "1",
      statuses: [],
    });
    expect(providerOf().provider.previewUpdate(workload, olds, inputs)).not.toHaveProperty("extras");
  });

  it("deletes in the GVC that the state names", async () => {
    const { provider, lines } = providerOf([202, {}]);
    await provider.delete(workload, "sftp", inputs);
    expect(lines()).toEqual(["DELETE /org/acme/gvc/demo/workload/sftp"]);
  });
});

describe("invoke", () => {
  it("answers in the lists of a data source", async () => {
    const { provider } = providerOf([200, { ...document(true), health: { readyReplicas: 1 } }]);
    const result = await provider.invoke("cpln:index/getWorkload:getWorkload", { gvc: "demo", name: "sftp" });
    expect(result).toMatchObject({
      id: "sftp",
      gvc: "demo",
      options: [{ suspend: true }],
      identityLink: "",
      health: { readyReplicas: 1, totalReplicas: 0 },
    });
  });

  it("fails for what is not there, and for what nobody knows", async () => {
    const { provider } = providerOf([404, { message: "no workload" }]);
    await expect(
      provider.invoke("cpln:index/getWorkload:getWorkload", { gvc: "demo", name: "sftp" }),
    ).rejects.toThrow("404");
    await expect(provider.invoke("cpln:index/getDomain:getDomain", {})).rejects.toThrow(
      "knows no cpln:index",
    );
  });
});
