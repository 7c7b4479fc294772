import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import { fromRoot } from "../../tools/lib/root.ts";
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
  expose: "public",
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
/** What stands in the place of `target` and `ports`. */
const { target: _, targetGvc: __, targetHost: ___, ports: ____, ...withoutTarget } = plain;
const several: ScaleToZeroTcpArgs = {
  ...withoutTarget,
  targets: [{ target: "sftp", targetGvc: "data", ports: [{ port: 22, target: 2022 }, { port: 9000 }] }],
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

const simple: ScaleToZeroTcpArgs = {
  gvc: "prod",
  target: "sftp",
  ports: [{ port: 23, target: 2023 }],
  allow: ["0.0.0.0/0"],
  preflight: false,
};

type Wrap = (value: unknown) => unknown;
const forms: [string, Wrap][] = [
  ["an Output", (value) => pulumi.output(value)],
  ["a promise", (value) => Promise.resolve(value)],
  ["a secret", (value) => pulumi.secret(value)],
];

it("leaves no argument out", () => {
  const { resources } = JSON.parse(readFileSync(fromRoot("test", "golden", "schema.json"), "utf8"));
  const all = Object.keys(resources["cpln-scale-to-zero:index:ScaleToZeroTcp"].inputProperties);
  // That one is no Input: it decides which resources there are.
  expect([...names, "targets", "wakeOnDestroy"].sort()).toEqual(all.sort());
});

describe("the same is registered when arguments come as", () => {
  it.each(forms)("%s, each on its own", async (_, wrap) => {
    const expected = shown(await registeredBy(plain));
    for (const name of names) {
      const args = { ...plain, [name]: wrap(plain[name]) } as ScaleToZeroTcpArgs;
      expect(shown(await registeredBy(args)), name).toEqual(expected);
    }
    const args = { ...several, targets: wrap(several.targets) } as ScaleToZeroTcpArgs;
    expect(shown(await registeredBy(args))).toEqual(shown(await registeredBy(several)));
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

/** Values that are found again wherever they come to, and the text to look for. */
const telling: Partial<Record<keyof ScaleToZeroTcpArgs, [unknown, string]>> = {
  gvc: ["hushgvc", "hushgvc"],
  target: ["hush-target", "hush-target"],
  targetGvc: ["hushgvc", "hushgvc"],
  targetHost: ["hush.internal", "hush.internal"],
  ports: [[{ port: 4711, target: 2222 }], "4711"],
  targets: [[{ target: "hush-target", ports: [{ port: 4711, target: 2222 }] }], "hush-target"],
  expose: ["internal", "same-gvc"],
  allow: [["10.47.11.0/24"], "10.47.11"],
  allowWorkloads: [["//gvc/other/workload/hush"], "hush"],
  ipset: ["hush", "hush"],
  location: ["aws-hush", "aws-hush"],
  idleHold: ["4711s", "1h18m31s"],
  maxHold: ["47s", "47s"],
  wakeTimeout: ["471s", "7m51s"],
  wakePollInterval: ["471ms", "471ms"],
  probeWindow: ["4711ms", "4.711s"],
  holdEnd: ["reset", '"holdEnd":"reset"'],
  clientFin: ["wait", '"clientFin":"wait"'],
  watchInterval: ["471s", "7m51s"],
  maxHeld: [471, "471"],
  maxConnections: [4711, "4711"],
  dialLimit: [4711, "4711"],
  earlyBytes: [4711, "4711"],
  maxHeldTotal: [4711, "4711"],
  maxConnectionsTotal: [4711, "4711"],
  halfCloseLinger: ["4711s", "1h18m31s"],
  stallLimit: ["4711s", "1h18m31s"],
  terminationGracePeriodSeconds: [471, "471"],
  drainTimeout: ["47s", "47s"],
  image: ["registry.example.invalid/hush", "hush"],
  cpu: ["471m", "471m"],
  memory: ["471Mi", "471Mi"],
  healthPort: [4711, "4711"],
  env: [{ PASSWORD: "hush-4711" }, "hush-4711"],
  tags: [{ note: "hush-4711" }, "hush-4711"],
  workloadName: ["hush-workload", "hush-workload"],
  identityName: ["hush-identity", "hush-identity"],
  policyName: ["hush-policy", "hush-policy"],
};
/** Nothing of these can be told from what is sent: one of two values, or never sent. */
const untelling = ["dataPlane", "exposeHealth", "preflight", "replicas"];

describe("a secret stays one in everything that is sent", () => {
  afterEach(() => vi.restoreAllMocks());

  it("whatever argument it is", () => {
    expect([...Object.keys(telling), ...untelling].sort()).toEqual([...names, "targets"].sort());
  });

  it.each(Object.entries(telling))("%s, and is not logged", async (name, [value, text]) => {
    const said: string[] = [];
    for (const level of ["info", "warn"] as const) {
      vi.spyOn(pulumi.log, level).mockImplementation(async (message) => void said.push(message));
    }
    const { allow, ipset, ...internal } = { ...simple, [name]: pulumi.secret(value) };
    const args = name === "expose" ? internal : { ...internal, allow, ipset };
    if (name === "targets")
      for (const only of ["target", "ports"]) delete (args as Record<string, unknown>)[only];
    const registered = await startMocks();
    const component = new ScaleToZeroTcp("sftp", args as ScaleToZeroTcpArgs);
    await outputsRegistered(registered, "sftp");
    const { workloadLink, identityLink, policyLink, ports } = component;
    const outputs = [workloadLink, identityLink, policyLink, ports];
    const open = await Promise.all(
      outputs.map(async (output) => ((await pulumi.isSecret(output)) ? "" : await settledValue(output))),
    );
    expect(JSON.stringify(registered.map(({ inputs }) => reveal(inputs)))).toContain(
      JSON.stringify(text).slice(1, -1),
    );
    for (const { inputs, name: resource } of registered)
      expect(everySecret(inputs, text), resource).toBe(true);
    expect(open.filter((each) => each.includes(text))).toEqual([]);
    expect(said.filter((each) => each.includes(text) || each.includes("2222"))).toEqual([]);
  });

  it("inside of lists and maps too", async () => {
    const args: ScaleToZeroTcpArgs = {
      ...simple,
      allow: [pulumi.secret("10.47.11.0/24")],
      env: { PASSWORD: pulumi.secret("hush-4711") },
      tags: { note: pulumi.secret("hush-4711") },
    };
    for (const { inputs } of await registeredBy(args)) {
      expect(everySecret(inputs, "10.47.11")).toBe(true);
      expect(everySecret(inputs, "hush-4711")).toBe(true);
    }
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
