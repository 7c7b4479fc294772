import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import { outputsRegistered, type Registered, settledValue, startMocks } from "../support/mocks.ts";

const simple: ScaleToZeroTcpArgs = {
  gvc: "prod",
  target: "sftp",
  ports: [{ port: 22, target: 2022 }],
  allow: ["0.0.0.0/0"],
};

let registered: Registered[];
let warnings: string[];
beforeEach(async () => {
  registered = await startMocks();
  warnings = [];
  vi.spyOn(pulumi.log, "warn").mockImplementation(async (text) => {
    warnings.push(text);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

it.each<[Partial<ScaleToZeroTcpArgs>, string[]]>([
  [{}, []],
  [{ maxHold: "5s" }, ["maxHold: a client is dropped after 5s, before most targets can be awake"]],
  [
    { terminationGracePeriodSeconds: 60, drainTimeout: "60s" },
    [
      "drainTimeout: sessions are to drain for 1m, but of the grace of 1m the platform's own shutdown leaves 45s",
    ],
  ],
  [
    { idleHold: "30s" },
    ["idleHold: after its own start the proxy still waits 1m45s before it suspends anything"],
  ],
  [
    { maxHeld: 5000, maxHeldTotal: 6000 },
    ["maxHeld: is above maxConnections, which counts held clients too, and so has no effect"],
  ],
  [
    { image: "registry.example.invalid/proxy@sha256:00" },
    ["image: a digest does not tell its version: make sure that this proxy knows the settings rendered here"],
  ],
])("%j is warned about once, by argument name, plain or not", async (change, expected) => {
  for (const wrap of [(value: unknown) => value, (value: unknown) => pulumi.output(value)]) {
    warnings = [];
    const later = Object.fromEntries(Object.entries(change).map(([name, value]) => [name, wrap(value)]));
    const component = new ScaleToZeroTcp("sftp", { ...simple, ...later });
    await settledValue(component.resources().workload.urn);
    await outputsRegistered(registered, "sftp");
    expect(warnings).toEqual(expected);
    registered = await startMocks();
  }
});
