import { describe, expect, it } from "vitest";
import { Client } from "../../../simulator/provider/client.ts";
import { unknown } from "../../../simulator/provider/mapping/values.ts";
import { settingsFrom } from "../../../simulator/provider/settings.ts";
import { type Answer, fakeApi } from "./fake-api.ts";

const local = { endpoint: "http://127.0.0.1:1/", token: "t" };
const clientOf = (...answers: Answer[]) => {
  const api = fakeApi(...answers);
  return { ...api, client: new Client(local, api.around) };
};
const busy: Answer = [429, { message: "Too many requests" }];

describe("a call", () => {
  it.each([
    ["t", "Bearer t"],
    ["Bearer t", "Bearer t"],
    ["bearer t", "Bearer t"],
  ])("carries the token %s as %s", async (token, expected) => {
    const { around, calls } = fakeApi([200, {}]);
    await new Client({ ...local, token }, around).get("/org/acme");
    expect(calls[0]).toMatchObject({ authorization: expected, url: "http://127.0.0.1:1/org/acme" });
  });

  it.each([200, 201, 202])("succeeds with %i", async (status) => {
    await expect(clientOf([status, { name: "x" }]).client.get("/x")).resolves.toEqual({ name: "x" });
  });

  it.each([203, 206, 400, 401, 403, 404, 500])("fails with %i, body and all", async (status) => {
    const { client } = clientOf([status, { message: "no" }]);
    await expect(client.get("/x")).rejects.toThrow(`status: ${status}, body: {"message":"no"}`);
  });

  it("fails with 204, which a delete may not answer", async () => {
    await expect(clientOf(204).client.delete("/x")).rejects.toThrow("status: 204");
  });
});

describe("trying again", () => {
  it.each(["create", "patch", "delete"] as const)(
    "%s waits out 429, twice as long each time",
    async (method) => {
      const { client, calls, waits } = clientOf(busy, busy, [200, {}]);
      await client[method]("/x", {});
      expect(calls).toHaveLength(3);
      expect(waits).toEqual([2_000, 4_000]);
    },
  );

  it("stops after the fifth attempt", async () => {
    const { client, calls } = clientOf(busy, busy, busy, busy, busy, busy);
    await expect(client.create("/x", {})).rejects.toThrow("429");
    expect(calls).toHaveLength(5);
  });

  it.each<[string, Answer, "get" | "create" | "patch"]>([
    ["a quota", [429, { message: "quota exceeded" }], "create"],
    ["429 on a read", busy, "get"],
    ["409 on a create", [409, {}], "create"],
    ["409 on an update", [409, {}], "patch"],
    ["500", [500, {}], "create"],
  ])("does not follow %s", async (_, answer, method) => {
    const { client, calls } = clientOf(answer);
    await expect(client[method]("/x", {})).rejects.toThrow();
    expect(calls).toHaveLength(1);
  });

  it("follows 409 on a delete", async () => {
    const { client, calls } = clientOf([409, {}], [202, {}]);
    await client.delete("/x");
    expect(calls).toHaveLength(2);
  });
});

describe("settings", () => {
  const environment = { CPLN_ORG: "acme", CPLN_ENDPOINT: "http://localhost:1", CPLN_TOKEN: "t" };

  it("come from the program, else from the environment", () => {
    expect(settingsFrom({ org: "other" }, environment)()).toEqual({
      org: "other",
      endpoint: "http://localhost:1",
      token: "t",
    });
  });

  it("may be unknown until they are used", () => {
    const settings = settingsFrom({ endpoint: unknown }, environment);
    expect(settings).toThrow("`endpoint` is not known yet");
  });

  it("are asked for by name", () => {
    expect(settingsFrom({}, { ...environment, CPLN_TOKEN: undefined })).toThrow("`token`, or CPLN_TOKEN");
  });

  it.each(["https://api.cpln.io", "http://10.0.0.1:8080", "http://127.example.com", "nonsense"])(
    "never lead away from this machine: %s",
    (endpoint) => {
      expect(settingsFrom({ endpoint }, environment)).toThrow("only to a Control Plane on this machine");
    },
  );

  it.each(["http://127.0.0.1:8080", "http://127.8.9.1", "http://[::1]:1"])("lead to %s", (endpoint) => {
    expect(settingsFrom({ endpoint }, environment)().endpoint).toBe(endpoint);
  });
});
