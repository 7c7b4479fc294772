import * as pulumi from "@pulumi/pulumi";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import { failureOf, outputsRegistered, settledValue, startMocks, unknownOutput } from "../support/mocks.ts";

const simple: ScaleToZeroTcpArgs = {
  gvc: "prod",
  target: "sftp",
  ports: [{ port: 22, target: 2022 }],
  allow: ["0.0.0.0/0"],
};

const document = {
  type: "standard",
  containers: [{ ports: [{ number: 2022, protocol: "tcp" }] }],
  options: [{ suspend: true }],
  firewallSpecs: [{ internals: [{ inboundAllowType: "same-gvc", inboundAllowWorkloads: [] }] }],
};

let asked: string[];
let answers: Record<string, unknown>;
let said: string[];
beforeEach(async () => {
  asked = [];
  said = [];
  answers = { getWorkload: document, getGvc: { locations: ["aws-us-west-2"] } };
  vi.spyOn(pulumi.log, "warn").mockImplementation(async (text) => void said.push(`warning: ${text}`));
  vi.spyOn(pulumi.log, "info").mockImplementation(async (text) => {
    // What ports suggest is another matter.
    if (!text.includes("].readiness: ")) said.push(`info: ${text}`);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const start = (preview: boolean) =>
  startMocks({
    preview,
    call: (token, inputs) => {
      const name = token.split(":").at(-1) ?? "";
      asked.push(`${name} ${[inputs.gvc, inputs.name].filter(Boolean).join("/")}`);
      const answer = answers[name];
      if (typeof answer === "string") throw Object.assign(new Error(answer), { details: answer });
      return answer as Record<string, unknown>;
    },
  });

async function preview(args: ScaleToZeroTcpArgs): Promise<void> {
  const registered = await start(true);
  await make(args);
  await outputsRegistered(registered, "sftp");
  // What was asked is answered, and judged, within a few turns.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
/** What is said of this target; what a destroy does to any is said by one test alone. */
const found = () => said.filter((each) => !each.includes("a destroy will leave the target")).sort();

async function make(args: ScaleToZeroTcpArgs): Promise<void> {
  const component = new ScaleToZeroTcp("sftp", args);
  await Promise.all(Object.values(component.resources()).map(({ urn }) => settledValue(urn)));
}

describe("a preview", () => {
  it("looks at the target and the GVC, and says nothing where all is right", async () => {
    await preview({ ...simple, targetGvc: "data", target: "//gvc/data/workload/sftp", allowWorkloads: [] });
    expect(asked.sort()).toEqual(["getGvc prod", "getWorkload data/sftp"]);
    await preview(simple);
    expect(found()).toEqual([expect.stringContaining("data/sftp does not let the proxy")]);
  });

  it("warns by the argument's name, with the line to add", async () => {
    answers.getWorkload = { ...document, firewallSpecs: [] };
    await preview({ ...simple, maxHold: "10s" });
    expect(found()).toEqual([
      'warning: target: prod/sftp does not let the proxy "//gvc/prod/workload/sftp-proxy" in: set its firewallSpec.internal to inboundAllowType: "workload-list" with the proxy in inboundAllowWorkloads',
    ]);
  });

  it("fails where it could never work, with all that is wrong", async () => {
    answers.getWorkload = { ...document, options: [{ autoscalings: [{ metric: "keda" }] }], containers: [] };
    answers.getGvc = { locations: ["one", "two"] };
    await start(true);
    const failure = await failureOf(() => new ScaleToZeroTcp("sftp", simple));
    expect(failure.message).toContain("location: prod is in one, two");
    expect(failure.message).toContain("target: the scale of prod/sftp belongs to KEDA");
    expect(failure.message).toContain("ports[0].target: prod/sftp does not declare port 2022, but none");
  });

  it("names one of several targets by its place", async () => {
    answers.getWorkload = { ...document, containers: [] };
    await start(true);
    const { ports, target: _, ...rest } = simple;
    const targets = [{ target: "sftp", ports: ports as never }];
    const failure = await failureOf(() => new ScaleToZeroTcp("sftp", { ...rest, targets }));
    expect(failure.message).toContain("targets[0].ports[0].target: prod/sftp does not declare port 2022");
  });

  it("says once that a target is not there yet", async () => {
    answers = { getWorkload: "404 not found", getGvc: "404 not found" };
    await preview(simple);
    expect(found()).toEqual([
      "info: preflight: skipped what depends on the target (prod/sftp is not there yet)",
    ]);
  });

  it("says why where it may not look", async () => {
    answers.getWorkload = "403 not granted [view]";
    await preview(simple);
    expect(found()).toEqual([
      "info: preflight: skipped what depends on the target (prod/sftp can't be looked at: 403 not granted [view])",
    ]);
    answers = { getWorkload: document, getGvc: "403 not granted [view]" };
    said = [];
    await preview(simple);
    expect(found()).toEqual([
      "info: preflight: skipped what depends on the GVC (prod can't be looked at: 403 not granted [view])",
    ]);
  });

  it("says once that it can't tell yet", async () => {
    await preview({ ...simple, target: unknownOutput() });
    expect(asked).toEqual([]);
    expect(found()).toEqual([expect.stringContaining("it depends on values that a preview can't tell")]);
  });

  it("looks at no target whose name is a secret, and does not tell it", async () => {
    answers.getWorkload = { ...document, containers: [] };
    await preview({ ...simple, target: pulumi.secret("hush") });
    expect(asked).toEqual([]);
    expect(said).toEqual(["info: preflight: skipped what depends on the target (it is a secret)"]);
  });

  it("says what a destroy will do, unless that wakes the target", async () => {
    await preview(simple);
    expect(said).toEqual([expect.stringMatching(/^info: a destroy will leave the target as it then is/)]);
    said = [];
    await preview({ ...simple, wakeOnDestroy: true });
    expect(said).toEqual([]);
  });

  it.each([false, pulumi.output(false)])("is not held up by it when it is off (%#)", async (off) => {
    await preview({ ...simple, preflight: off });
    expect([asked, said]).toEqual([[], []]);
  });
});

it("an update looks at nothing: its preview has", async () => {
  const registered = await start(false);
  await make(simple);
  await outputsRegistered(registered, "sftp");
  expect(asked).toEqual([]);
});
