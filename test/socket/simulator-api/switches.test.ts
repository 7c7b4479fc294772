import { describe, expect, it } from "vitest";
import { home, startApi } from "./support.ts";

const item = `${home}/workload/target`;

/** Both sides of each open point. Header form, outbound rule and deletion have theirs beside what they are about. */
describe("an open point", () => {
  it.each([
    ["view", 200],
    ["manage", 403],
  ] as const)("deployments readable with edit where they take %s", async (deploymentReadable, status) => {
    const api = await startApi({ switches: { deploymentReadable } });
    await api.deploy();
    const grant = { kind: "workload", permissions: ["edit"], targetLinks: [item] };
    const authorization = api.simulator.createToken("editor", [grant]);
    expect((await api.get(`${item}/deployment`, { authorization })).status).toBe(status);
    expect((await api.get(`${item}/deployment/aws-us-west-2`, { authorization })).status).toBe(status);
    expect((await api.get(item, { authorization })).status).toBe(200);
  });

  it.each([
    ["replace", undefined],
    ["merge", 9],
  ] as const)("a plain localOptions array: %s", async (localOptionsPatch, timeoutSeconds) => {
    const api = await startApi({ switches: { localOptionsPatch } });
    await api.deploy();
    const location = "//location/aws-us-west-2";
    await api.ok(api.patch(item, { spec: { localOptions: [{ location, timeoutSeconds: 9 }] } }));
    const full = "/org/local/location/aws-us-west-2";
    const { body } = await api.patch(item, { spec: { localOptions: [{ location: full, suspend: true }] } });
    expect(body.spec.localOptions).toHaveLength(1);
    expect(body.spec.localOptions[0]).toMatchObject({ location: full, suspend: true });
    expect(body.spec.localOptions[0].timeoutSeconds).toBe(timeoutSeconds);
  });

  it.each([
    ["full", ["code", "details", "id", "message", "status"]],
    ["message", ["message"]],
    ["empty", []],
  ] as const)("the body of a 409: %s", async (conflictBody, members) => {
    const api = await startApi({ switches: { conflictBody } });
    await api.deploy();
    const { status, body } = await api.patch(item, { version: 7 });
    expect(status).toBe(409);
    expect(Object.keys(body).sort()).toEqual(members);
  });

  it.each([
    ["refuse", 400],
    ["store", 201],
  ] as const)("an unknown permission: %s", async (unknownPermission, status) => {
    const api = await startApi({ switches: { unknownPermission } });
    const bindings = [{ permissions: ["wake"], principalLinks: ["//group/viewers"] }];
    const policy = { name: "odd", targetKind: "workload", target: "all", bindings };
    expect((await api.post("/org/local/policy", policy)).status).toBe(status);
  });
});
