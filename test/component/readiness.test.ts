import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as contract from "../../src/contract/readiness.ts";
import {
  type PortArgs,
  type ReadinessArgs,
  ReadinessKind,
  ScaleToZeroTcp,
  type ScaleToZeroTcpArgs,
  WakeOn,
} from "../../src/index.ts";
import { outputsRegistered, type Registered, settledValue, startMocks } from "../support/mocks.ts";

let registered: Registered[];
let said: string[];
beforeEach(async () => {
  registered = await startMocks();
  said = [];
  vi.spyOn(pulumi.log, "info").mockImplementation(async (text) => void said.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
});

const args = (port: PortArgs, more: Partial<ScaleToZeroTcpArgs> = {}): ScaleToZeroTcpArgs => ({
  gvc: "prod",
  target: "db",
  ports: [port],
  allow: ["0.0.0.0/0"],
  preflight: false,
  ...more,
});

/** The mapping as the proxy gets it. */
async function rendered(
  port: PortArgs,
  more?: Partial<ScaleToZeroTcpArgs>,
): Promise<Record<string, unknown>> {
  const component = new ScaleToZeroTcp("db", args(port, more));
  const containers = (await settledValue(component.resources().workload.containers)) as unknown as {
    env: { TARGET_1: string };
  }[];
  await outputsRegistered(registered, "db");
  const { listen: _, target: __, ...proof } = JSON.parse(containers[0]?.env.TARGET_1 ?? "").ports[0];
  return proof;
}

function refusals(port: PortArgs, more?: Partial<ScaleToZeroTcpArgs>): Record<string, string> {
  try {
    new ScaleToZeroTcp("db", args(port, more));
  } catch (error) {
    const { errors } = error as pulumi.InputPropertiesError;
    return Object.fromEntries(errors.map(({ propertyPath, reason }) => [propertyPath, reason]));
  }
  return {};
}

describe("a port's protocol", () => {
  it.each<[PortArgs, string, string | undefined]>([
    [{ port: 22, target: 2222 }, "ssh", "fitting"],
    [{ port: 5000, target: 5432 }, "postgres", "fitting"],
    [{ port: 5432, target: 9000 }, "postgres", "fitting"],
    [{ port: 6379 }, "redis", "fitting"],
    [{ port: 1883 }, "mqtt", "fitting"],
    [{ port: 5672 }, "amqp", "fitting"],
    [{ port: 3306 }, "mysql", undefined],
    [{ port: 587 }, "smtp", undefined],
    [{ port: 25, target: 2525 }, "smtp", undefined],
    [{ port: 2022, target: 2121 }, "ssh", "fitting"],
  ])("is inferred for %j, and said", async (port, readiness, wakeOn) => {
    const own = contract.PROTOCOLS[readiness as contract.ProtocolName];
    expect(own).toBeDefined();
    const proof = await rendered(port);
    expect([proof.readiness, proof.wakeOn]).toEqual([readiness, wakeOn]);
    expect(said).toEqual([
      expect.stringMatching(`^ports\\[0\\]\\.readiness: ${readiness}, as port \\d+ suggests; `),
    ]);
  });

  it("is a banner anywhere else, and nothing is said of it", async () => {
    expect(await rendered({ port: 8080 })).toEqual({});
    expect(said).toEqual([]);
  });

  it("can be chosen, with its options, plain or not", async () => {
    const readiness = pulumi.output<ReadinessArgs>({ kind: ReadinessKind.Http, path: "/healthz" });
    expect(await rendered({ port: 5432, readiness })).toEqual({
      readiness: { kind: "http", path: "/healthz" },
      wakeOn: "fitting",
    });
    expect(said).toEqual([]);
  });

  it("can be none of those: a banner, on any connection", async () => {
    expect(await rendered({ port: 5432, readiness: { kind: "banner" } })).toEqual({});
    expect(await rendered({ port: 6379, wakeOn: WakeOn.Connect })).toEqual({ readiness: "redis" });
  });

  it("wakes on a connection where no byte of a held client is read", async () => {
    expect(await rendered({ port: 6379 }, { earlyBytes: 0 })).toEqual({ readiness: "redis" });
  });

  it("is refused by its place where it can't be, or would wait for ever", () => {
    expect(refusals({ port: 80, readiness: { kind: "http", path: "x" } })).toEqual({
      "ports[0].readiness.path": expect.stringContaining("must be a path such as /healthz"),
    });
    expect(refusals({ port: 3306, wakeOn: "payload" })).toEqual({
      "ports[0].wakeOn": expect.stringContaining("would wait for bytes of a client"),
    });
    expect(refusals({ port: 9000, readiness: { kind: "replay" } }, { earlyBytes: 100 })).toEqual({
      "ports[0].readiness": expect.stringContaining("than earlyBytes, 100, lets a client send"),
    });
  });

  it("is judged with what is known later", async () => {
    const readiness = { kind: ReadinessKind.Replay, bytes: 65_536 } as const;
    expect(await rendered({ port: 9000, readiness }, { earlyBytes: pulumi.output(65_536) })).toEqual({
      readiness: { kind: "replay", bytes: 65_536 },
    });
  });

  it("has a name for every kind that the proxy knows", () => {
    expect(Object.values(ReadinessKind)).toEqual(Object.keys(contract.KINDS));
    expect(Object.values(WakeOn)).toEqual(contract.WAKE_ON);
  });
});
