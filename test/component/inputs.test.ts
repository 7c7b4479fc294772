import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import {
  everySecret,
  outputsRegistered,
  type Registered,
  reveal,
  settledValue,
  startMocks,
  UNKNOWN,
  unknownOutput,
} from "../support/mocks.ts";

const plain: ScaleToZeroTcpArgs = {
  gvc: "prod",
  target: "sftp",
  targetGvc: "data",
  targetHost: "sftp.internal",
  ports: [{ port: 22, target: 2022 }, { port: 9000 }],
  allow: ["10.0.0.0/8", "192.168.0.0/16"],
  allowWorkloads: ["//gvc/prod/workload/app"],
  ipset: "static",
  location: "aws-us-west-2",
  idleHold: "10m",
  maxHold: "45s",
  wakeTimeout: "100s",
  wakePollInterval: "250ms",
  probeWindow: "3s",
  holdEnd: "reset",
  clientFin: "wait",
  watchInterval: "30s",
  maxHeld: 10,
  maxConnections: 20,
  dialLimit: 5,
  earlyBytes: 100,
  maxHeldTotal: 30,
  maxConnectionsTotal: 40,
  dataPlane: "js",
  halfCloseLinger: "20m",
  stallLimit: "15m",
  terminationGracePeriodSeconds: 300,
  drainTimeout: "200s",
  image: "registry.example.invalid/proxy:1",
  cpu: "200m",
  memory: "256Mi",
  replicas: 1,
  healthPort: 8082,
  env: { EXTRA: "yes" },
  workloadName: "my-proxy",
  identityName: "my-identity",
  policyName: "my-policy",
  tags: { team: "files" },
  preflight: false,
  exposeHealth: true,
};
const names = Object.keys(plain) as (keyof ScaleToZeroTcpArgs)[];

async function registeredBy(args: ScaleToZeroTcpArgs, preview = false): Promise<Registered[]> {
  const registered = await startMocks({ preview });
  const component = new ScaleToZeroTcp("sftp", args);
  await Promise.all([component, ...Object.values(component.resources())].map(({ urn }) => settledValue(urn)));
  await outputsRegistered(registered, "sftp");
  return registered;
}

const shown = (registered: Registered[]) =>
  registered
    .map(({ type, name, inputs }) => ({ type, name, inputs: reveal(inputs) }))
    .sort((a, b) => (a.type < b.type ? -1 : 1));

type Wrap = (value: unknown) => unknown;
const forms: [string, Wrap][] = [
  ["an Output", (value) => pulumi.output(value)],
  ["a promise", (value) => Promise.resolve(value)],
  ["a secret", (value) => pulumi.secret(value)],
];

describe("the same is registered when arguments come as", () => {
  it.each(forms)("%s, each on its own", async (_, wrap) => {
    const expected = shown(await registeredBy(plain));
    for (const name of names) {
      const args = { ...plain, [name]: wrap(plain[name]) } as ScaleToZeroTcpArgs;
      expect(shown(await registeredBy(args)), name).toEqual(expected);
    }
  });

  it.each(forms)("%s, all of them", async (_, wrap) => {
    const all = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, wrap(value)]));
    expect(shown(await registeredBy(all as unknown as ScaleToZeroTcpArgs))).toEqual(
      shown(await registeredBy(plain)),
    );
  });

  it("Outputs inside of lists and maps", async () => {
    const args: ScaleToZeroTcpArgs = {
      ...plain,
      ports: [{ port: pulumi.output(22), target: pulumi.output(2022) }, pulumi.output({ port: 9000 })],
      allow: [pulumi.output("10.0.0.0/8"), "192.168.0.0/16"],
      env: { EXTRA: pulumi.output("yes") },
      tags: { team: pulumi.output("files") },
    };
    expect(shown(await registeredBy(args))).toEqual(shown(await registeredBy(plain)));
  });
});

describe("a secret stays one in everything that is sent", () => {
  it.each<[keyof ScaleToZeroTcpArgs, unknown, string]>([
    ["env", { PASSWORD: pulumi.secret("hush-4711") }, "hush-4711"],
    ["targetHost", pulumi.secret("hush.internal"), "hush.internal"],
    ["allow", [pulumi.secret("10.47.11.0/24")], "10.47.11.0/24"],
    ["tags", { note: pulumi.secret("hush-4711") }, "hush-4711"],
    ["target", pulumi.secret("hush"), "hush"],
    ["image", pulumi.secret("registry.example.invalid/hush"), "hush"],
  ])("%s", async (name, value, text) => {
    const registered = await registeredBy({ ...plain, [name]: value } as ScaleToZeroTcpArgs);
    expect(JSON.stringify(registered.map(({ inputs }) => inputs))).toContain(text);
    for (const { inputs, name: resource } of registered)
      expect(everySecret(inputs, text), resource).toBe(true);
  });
});

describe("a preview with an argument that is not known yet", () => {
  it.each(names)("%s: the same resources", async (name) => {
    const registered = await registeredBy({ ...plain, [name]: unknownOutput() } as ScaleToZeroTcpArgs, true);
    expect(registered.map((each) => each.name).sort()).toEqual([
      "sftp",
      "sftp-identity",
      "sftp-policy",
      "sftp-proxy",
    ]);
  });

  it("leaves what does not follow from it readable", async () => {
    const registered = await registeredBy({ ...plain, allow: unknownOutput() }, true);
    const { inputs } = registered.find(({ name }) => name === "sftp-proxy") as Registered;
    expect(inputs.firewallSpec).toBe(UNKNOWN);
    expect(inputs).toMatchObject({ name: "my-proxy", gvc: "prod", options: {}, rolloutOptions: [{}] });
    expect(inputs.containers).toMatchObject([{ image: "registry.example.invalid/proxy:1", cpu: "200m" }]);
  });

  it("names nothing that it can't know", async () => {
    const { policyName: _, ...rest } = plain;
    const registered = await registeredBy({ ...rest, gvc: unknownOutput() }, true);
    const { inputs } = registered.find(({ name }) => name === "sftp-policy") as Registered;
    expect(inputs.name).toBe(UNKNOWN);
    expect(inputs.targetLinks).toEqual(["sftp"]);
  });
});
