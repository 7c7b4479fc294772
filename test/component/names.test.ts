import * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newNameProblem } from "../../src/contract/links.ts";
import { proxyWorkloadLink, ScaleToZeroTcp } from "../../src/index.ts";
import { identityName, policyName, workloadName } from "../../src/naming.ts";
import { outputsRegistered, settledValue, startMocks } from "../support/mocks.ts";

// Promises: another name or URN would replace the resource in people's stacks, the load balancer's address included.
const golden = [
  {
    component: "sftp",
    gvc: "prod",
    workload: "sftp-proxy",
    identity: "sftp-proxy",
    policy: "sftp-proxy-prod",
  },
  {
    component: "My_Service",
    gvc: "prod",
    workload: "my-service-4281f079-proxy",
    identity: "my-service-4281f079-proxy",
    policy: "my-service-proxy-prod-78b32304",
  },
  {
    component: "a-service-with-a-name-that-goes-on-and-on-and-on",
    gvc: "a-gvc-with-a-long-name",
    workload: "a-service-with-a-name-that-goes-on-0ad6a287-proxy",
    identity: "a-service-with-a-name-that-goes-on-and-on-and-on-proxy",
    policy: "a-service-with-a-name-that-goes-on-and-on-and-on-proxy-4c9b673b",
  },
  {
    component: "42",
    gvc: "prod",
    workload: "p-73475cb4-proxy",
    identity: "p-73475cb4-proxy",
    policy: "proxy-prod-296db6b2",
  },
];

describe("physical names", () => {
  it.each(golden)("of $component stay what they are", ({ component, gvc, ...names }) => {
    expect({
      workload: workloadName(component),
      identity: identityName(component),
      policy: policyName(component, gvc),
    }).toEqual(names);
  });

  it("are always ones that the platform takes, and differ where the components' do", () => {
    const component = fc.oneof(
      fc.string({ minLength: 1, maxLength: 80 }),
      fc.stringMatching(/^[a-z-]{1,80}$/),
    );
    fc.assert(
      fc.property(component, component, fc.constantFrom("prod", "g".repeat(63)), (one, other, gvc) => {
        expect(newNameProblem("workload", workloadName(one))).toBeUndefined();
        expect(newNameProblem("identity", identityName(one))).toBeUndefined();
        expect(newNameProblem("policy", policyName(one, gvc))).toBeUndefined();
        expect(workloadName(one) === workloadName(other)).toBe(one === other);
        expect(identityName(one) === identityName(other)).toBe(one === other);
        expect(policyName(one, gvc) === policyName(other, gvc)).toBe(one === other);
      }),
    );
  });
});

it("URNs stay what they are", async () => {
  const registered = await startMocks();
  const component = new ScaleToZeroTcp("sftp", {
    gvc: "prod",
    target: "sftp",
    ports: [{ port: 22, target: 2022 }],
    allow: ["0.0.0.0/0"],
  });
  const urns = [component, ...Object.values(component.resources())].map(({ urn }) => settledValue(urn));
  expect(await Promise.all(urns)).toEqual([
    "urn:pulumi:test::shop::cpln-scale-to-zero:index:ScaleToZeroTcp::sftp",
    "urn:pulumi:test::shop::cpln-scale-to-zero:index:ScaleToZeroTcp$cpln:index/identity:Identity::sftp-identity",
    "urn:pulumi:test::shop::cpln-scale-to-zero:index:ScaleToZeroTcp$cpln:index/policy:Policy::sftp-policy",
    "urn:pulumi:test::shop::cpln-scale-to-zero:index:ScaleToZeroTcp$cpln:index/workload:Workload::sftp-proxy",
  ]);
  await outputsRegistered(registered, "sftp");
});

describe("the line for the target's firewall", () => {
  it("names the proxy before anything exists", async () => {
    await startMocks();
    expect(await settledValue(proxyWorkloadLink({ gvc: "prod", name: "sftp" }))).toBe(
      "//gvc/prod/workload/sftp-proxy",
    );
    expect(await settledValue(proxyWorkloadLink({ gvc: pulumi.output("prod"), name: "My_Service" }))).toBe(
      `//gvc/prod/workload/${workloadName("My_Service")}`,
    );
    expect(
      await settledValue(proxyWorkloadLink({ gvc: "prod", name: "sftp", workloadName: "my-proxy" })),
    ).toBe("//gvc/prod/workload/my-proxy");
  });
});
