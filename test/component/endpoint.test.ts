import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { endpointOf, ScaleToZeroTcp } from "../../src/index.ts";
import { settledValue, startMocks, unknownOutput } from "../support/mocks.ts";

const at = (canonicalEndpoint: string | undefined) => ({ statuses: [{ canonicalEndpoint }] });
const start = (answer: object, asked: unknown[] = []) =>
  startMocks({
    call: (_, inputs) => {
      asked.push(inputs);
      return answer as Record<string, unknown>;
    },
  });
const workloadLink = "/org/acme/gvc/prod/workload/sftp-proxy";

describe("the endpoint of", () => {
  it("a component is asked for as soon as it is made", async () => {
    const asked: object[] = [];
    await start(at("tcp://sftp.example.invalid:22"), asked);
    const sftp = new ScaleToZeroTcp("sftp", {
      gvc: "prod",
      target: "sftp",
      ports: [{ port: 22, target: 2022 }],
      allow: ["0.0.0.0/0"],
    });
    expect(await settledValue(sftp.host)).toBeUndefined();
    expect(await settledValue(endpointOf(sftp))).toBe("sftp.example.invalid");
    expect(asked).toMatchObject([{ gvc: "prod", name: "sftp-proxy" }]);
  });

  it.each<[string | undefined, string | undefined, string | undefined]>([
    [undefined, undefined, undefined],
    [undefined, "recorded.example.invalid", "recorded.example.invalid"],
    ["tcp://now.example.invalid:22", "recorded.example.invalid", "now.example.invalid"],
    ["https://proxy.example.invalid", undefined, undefined],
  ])("a platform that says %s, after %s was recorded", async (said, host, expected) => {
    await start(at(said));
    expect(await settledValue(endpointOf({ workloadLink, host }))).toBe(expected);
  });

  it("an internal one is its name, and nobody is asked", async () => {
    const asked: object[] = [];
    await start(at(undefined), asked);
    const host = "sftp-proxy.prod.cpln.local";
    expect(await settledValue(endpointOf({ workloadLink: pulumi.output(workloadLink), host }))).toBe(host);
    expect(asked).toEqual([]);
  });

  it("one that is not made yet is not known", async () => {
    await startMocks({ preview: true });
    const output = endpointOf({ workloadLink: unknownOutput() }) as unknown as { isKnown: Promise<boolean> };
    expect(await output.isKnown).toBe(false);
  });
});
