import { inspect } from "node:util";
import * as pulumi from "@pulumi/pulumi";
import { beforeEach, describe, expect, it } from "vitest";
import { ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import { failureOf, type Registered, startMocks } from "../support/mocks.ts";

const simple: ScaleToZeroTcpArgs = {
  gvc: "prod",
  target: "sftp",
  ports: [{ port: 22, target: 2022 }],
  allow: ["0.0.0.0/0"],
};

let registered: Registered[];
beforeEach(async () => {
  registered = await startMocks();
});

/** What a program would be told at once, by property path. */
function refusals(args: unknown, name = "sftp"): Record<string, string> {
  try {
    new ScaleToZeroTcp(name, args as ScaleToZeroTcpArgs);
  } catch (error) {
    if (!pulumi.InputPropertiesError.isInstance(error)) throw error;
    const { errors, message } = error as pulumi.InputPropertiesError;
    for (const { propertyPath, reason } of errors) expect(message).toContain(`  ${propertyPath}: ${reason}`);
    expect(message).not.toContain("[object Object]");
    expect(message).not.toContain("[toString]");
    return Object.fromEntries(errors.map(({ propertyPath, reason }) => [propertyPath, reason]));
  }
  return {};
}

const cidr = "must be a CIDR such as 10.0.0.0/8";
const size = (such: string, got: string) => `must be text such as ${such} (got "${got}")`;
const least = (floor: string, got: string) =>
  `must be at least ${floor}: the platform takes no less (got "${got}")`;

describe("a plain argument is refused where it was written", () => {
  it.each<[string, unknown, Record<string, string>]>([
    [
      "nothing",
      undefined,
      {
        gvc: "is required",
        allow: expect.stringMatching(/^is required/),
        target: "is required",
        ports: "is required",
      },
    ],
    [
      "no allow",
      { allow: undefined },
      { allow: 'is required: say who may connect, such as ["0.0.0.0/0"] for everybody' },
    ],
    ["an empty allow", { allow: [] }, { allow: 'must be a list of 1 to 250 CIDRs (got "[]")' }],
    [
      "a bad CIDR",
      { allow: ["10.0.0.0/8", "10.0.0.0/33", "any"] },
      { "allow[1]": `${cidr} (got "10.0.0.0/33")`, "allow[2]": `${cidr} (got "any")` },
    ],
    [
      "a duration without a unit",
      { idleHold: "300" },
      { idleHold: 'needs a unit, such as 300s or 300m (got "300")' },
    ],
    ["a duration as a number", { idleHold: 300 }, { idleHold: 'must be text such as "5m" (got "300")' }],
    [
      "a duration as an object",
      { idleHold: { minutes: 5 } },
      { idleHold: 'must be text such as "5m" (got "{\\"minutes\\":5}")' },
    ],
    ["an absurd duration", { maxHold: "2h" }, { maxHold: 'must be between 1ms and 1h (got "2h")' }],
    ["a choice that is none", { holdEnd: "drop" }, { holdEnd: 'must be one of close, reset (got "drop")' }],
    ["a limit", { maxHeld: 0 }, { maxHeld: 'must be between 1 and 60000 (got "0")' }],
    ["a data plane", { dataPlane: "c" }, { dataPlane: 'must be one of auto, native, js (got "c")' }],
    ["no ports", { ports: [] }, { ports: 'must name at least one port (got "[]")' }],
    ["ports that are no list", { ports: 22 }, { ports: 'must be a list (got "22")' }],
    ["a mapping that is none", { ports: [22] }, { "ports[0].port": "is required" }],
    [
      "a port as text",
      { ports: [{ port: "22" }] },
      { "ports[0].port": 'must be a port that the direct load balancer can offer, 22-32768 (got "22")' },
    ],
    [
      "a public port too high",
      { ports: [{ port: 40_000 }] },
      { "ports[0].port": 'must be a port that the direct load balancer can offer, 22-32768 (got "40000")' },
    ],
    [
      "a target port by default that can't be",
      { ports: [{ port: 22 }] },
      {
        "ports[0].target":
          'is `port` where it is not given, and must be 80 or above: the platform lets no container declare a lower port (got "22")',
      },
    ],
    [
      "a reserved target port",
      { ports: [{ port: 22, target: 9090 }] },
      { "ports[0].target": 'is reserved by the platform\'s sidecar (got "9090")' },
    ],
    [
      "a reserved listen port",
      { ports: [{ port: 22, target: 2022, listen: 15_001 }] },
      { "ports[0].listen": 'is reserved by the platform\'s sidecar (got "15001")' },
    ],
    [
      "a listen port twice",
      {
        ports: [
          { port: 22, target: 2022 },
          { port: 23, target: 2023, listen: 10_022 },
          { port: 24, target: 1, listen: 10_022 },
        ],
      },
      {
        "ports[1].listen": 'is listened on twice (got "10022")',
        "ports[2].target":
          'must be 80 or above: the platform lets no container declare a lower port (got "1")',
      },
    ],
    [
      "two listen ports alike",
      {
        ports: [
          { port: 22, target: 2022, listen: 3000 },
          { port: 23, target: 2023, listen: 3000 },
        ],
      },
      { "ports[1].listen": 'is listened on twice (got "3000")' },
    ],
    [
      "a public port twice",
      {
        ports: [
          { port: 22, target: 2022, listen: 3000 },
          { port: 22, target: 2023, listen: 3001 },
        ],
      },
      { "ports[1].port": 'is given twice (got "22")' },
    ],
    [
      "the health port as listen",
      { ports: [{ port: 22, target: 2022, listen: 8081 }] },
      { "ports[0].listen": 'is taken by healthPort (got "8081")' },
    ],
    [
      "a reserved health port",
      { healthPort: 9090 },
      { healthPort: 'is reserved by the platform\'s sidecar (got "9090")' },
    ],
    [
      "two replicas",
      { replicas: 2 },
      {
        replicas:
          "must be 1: replicas don't know of each other's clients yet, and one would suspend under another's (got \"2\")",
      },
    ],
    [
      "too little grace",
      { terminationGracePeriodSeconds: 4 },
      { terminationGracePeriodSeconds: 'must be whole seconds between 5 and 900 (got "4")' },
    ],
    [
      "grace as text",
      { terminationGracePeriodSeconds: "90" },
      { terminationGracePeriodSeconds: 'must be whole seconds between 5 and 900 (got "90")' },
    ],
    [
      "a target with capitals",
      { target: "SFTP" },
      {
        target:
          'must be a name: lower-case letters, digits and hyphens, a letter first, no hyphen last (got "SFTP")',
      },
    ],
    [
      "a link to something else",
      { target: "//gvc/g/identity/i" },
      { target: 'must be the name of a workload, or a link to one (got "//gvc/g/identity/i")' },
    ],
    [
      "a target GVC that is none",
      { targetGvc: "G" },
      {
        targetGvc:
          'must be a name: lower-case letters, digits and hyphens, a letter first, no hyphen last (got "G")',
      },
    ],
    [
      "a GVC that is none",
      { gvc: "G" },
      {
        gvc: 'must be a name: lower-case letters, digits and hyphens, a letter first, no hyphen last (got "G")',
      },
    ],
    [
      "two GVCs for the target",
      { target: "//gvc/one/workload/w", targetGvc: "two" },
      { targetGvc: 'names another GVC than the link to the workload, one (got "two")' },
    ],
    [
      "the proxy as its own target",
      { target: "sftp-proxy" },
      { target: 'is the proxy itself (got "sftp-proxy")' },
    ],
    [
      "a host with a scheme",
      { targetHost: "tcp://x" },
      { targetHost: 'must be a host name or an address, without scheme or port (got "tcp://x")' },
    ],
    [
      "exposure that is none",
      { expose: "world" },
      { expose: 'must be one of public, internal (got "world")' },
    ],
    [
      "allow for an internal one",
      { expose: "internal" },
      {
        allow:
          'has no meaning with `expose: "internal"`, which makes no load balancer (got "[\\"0.0.0.0/0\\"]")',
      },
    ],
    [
      "an IP set for an internal one",
      { expose: "internal", allow: undefined, ipset: "static" },
      { ipset: 'has no meaning with `expose: "internal"`, which makes no load balancer (got "static")' },
    ],
    [
      "a workload without its GVC",
      { allowWorkloads: ["app"] },
      {
        "allowWorkloads[0]":
          'must be a link to a workload with its GVC, such as //gvc/G/workload/W (got "app")',
      },
    ],
    [
      "a location as a link",
      { location: "/org/o/location/l" },
      { location: 'must be the bare name of a location (got "/org/o/location/l")' },
    ],
    [
      "the older proxy",
      { image: "ghcr.io/controlplane-com/scale-to-zero-proxy:0.1.0" },
      { image: expect.stringMatching(/^is older than the settings/) },
    ],
    [
      "names too long, too short, or reserved",
      { workloadName: "a".repeat(50), identityName: "ab", policyName: "A" },
      {
        workloadName: expect.stringMatching(/^must be at most 49 characters/),
        identityName: 'must be at least 3 characters long (got "ab")',
        policyName: expect.stringMatching(/^must be a name/),
      },
    ],
    [
      "variables that are the component's",
      {
        env: { IDLE_HOLD: "1m", TARGET_1: "x", SETTINGS_VERSION: "9", CPLN_TOKEN: "x", "a b": "x", FINE: 5 },
      },
      {
        "env.IDLE_HOLD": "is rendered by the component: set `idleHold`",
        "env.TARGET_1": "is rendered by the component",
        "env.SETTINGS_VERSION": "is rendered by the component",
        "env.CPLN_TOKEN": "is a name that the platform keeps for itself",
        "env.a b": "is not a name that the platform takes for a variable",
        "env.FINE": "must be text",
      },
    ],
    [
      "a size in words",
      { cpu: "a little", memory: 128 },
      { cpu: size("100m or 0.5", "a little"), memory: size("128Mi or 1Gi", "128") },
    ],
    [
      "a size below the platform's least",
      { cpu: "0.02", memory: "31Mi" },
      { cpu: least("25m", "0.02"), memory: least("32Mi", "31Mi") },
    ],
    [
      "an IP set that is none",
      { ipset: "//location/aws-us-west-2" },
      { ipset: 'must be the name of an IP set, or a link to one (got "//location/aws-us-west-2")' },
    ],
    [
      "an image with a blank",
      { image: "proxy: latest" },
      { image: 'must be the name of an image (got "proxy: latest")' },
    ],
    [
      "an empty setting",
      { stallLimit: "", maxHeldTotal: " " },
      { stallLimit: expect.stringMatching(/got ""/), maxHeldTotal: expect.stringMatching(/got " "/) },
    ],
    [
      "a switch as text",
      { preflight: "no", wakeOnDestroy: "yes" },
      {
        preflight: "must be true or false",
        wakeOnDestroy: "must be true or false at once: no Output, and no text",
      },
    ],
    [
      "a switch that comes too late",
      { wakeOnDestroy: pulumi.output(true) },
      { wakeOnDestroy: "must be true or false at once: no Output, and no text" },
    ],
    ["tags that are no texts", { tags: { team: "files", cost: 7 } }, { "tags.cost": "must be text" }],
    [
      "several things at once",
      { idleHold: "x", replicas: 3, ports: [{ port: 22, target: 2022 }, { port: 1 }], allow: ["?"] },
      {
        "ports[1].port": expect.any(String),
        "allow[0]": expect.any(String),
        replicas: expect.any(String),
        idleHold: expect.any(String),
      },
    ],
  ])("%s", (_, change, expected) => {
    const args = change === undefined ? undefined : { ...simple, ...(change as object) };
    expect(refusals(args)).toEqual(expected);
    expect(registered.filter(({ type }) => type.startsWith("cpln:"))).toEqual([]);
  });

  it("is printed as what is wrong and the line that asked for it", () => {
    let printed = "";
    try {
      new ScaleToZeroTcp("sftp", { ...simple, idleHold: "300" });
    } catch (error) {
      printed = inspect(error);
    }
    const [title, problem, at, ...more] = printed.split("\n");
    expect(title).toBe('Error: ScaleToZeroTcp "sftp" can\'t work like this:');
    expect(problem).toBe('  idleHold: needs a unit, such as 300s or 300m (got "300")');
    expect(at).toContain("arguments.test.ts");
    expect(more).toEqual([]);
  });

  it("more ports than fit a variable", () => {
    const ports = Array.from({ length: 140 }, (_, index) => ({ port: 2000 + index, target: 22_000 + index }));
    expect(refusals({ ...simple, ports })).toEqual({
      ports: expect.stringMatching(/^is \d+ characters long, and the platform takes 4096$/),
    });
  });

  it("also while another argument is not known yet", () => {
    const gvc = pulumi.output("prod");
    expect(refusals({ ...simple, gvc, idleHold: "5" })).toEqual({
      idleHold: 'needs a unit, such as 5s or 5m (got "5")',
    });
    expect(
      Object.keys(
        refusals({ ...simple, gvc, ports: pulumi.output([]), allow: [pulumi.output("x")], replicas: 2 }),
      ),
    ).toEqual(["replicas"]);
    expect(Object.keys(refusals({ ...simple, expose: pulumi.output("internal"), replicas: 2 }))).toEqual([
      "replicas",
    ]);
  });
});

describe("an Output is refused with the same words", () => {
  it.each<[string, Partial<ScaleToZeroTcpArgs>, Partial<ScaleToZeroTcpArgs>]>([
    ["a duration", { idleHold: pulumi.output("300") }, { idleHold: "300" }],
    ["a promise", { idleHold: Promise.resolve("300") }, { idleHold: "300" }],
    ["a port in a mapping", { ports: [{ port: pulumi.output(1) }] }, { ports: [{ port: 1 }] }],
    ["a whole list", { ports: pulumi.output([{ port: 1 }]) }, { ports: [{ port: 1 }] }],
    [
      "two at once",
      { maxHold: pulumi.output("1"), allow: pulumi.output(["x"]) },
      { maxHold: "1", allow: ["x"] },
    ],
    ["a variable", { env: pulumi.output({ CPLN_X: "y" }) }, { env: { CPLN_X: "y" } }],
    ["a variable's value", { env: { X: pulumi.output(7 as never) } }, { env: { X: 7 as never } }],
    ["a tag", { tags: { cost: pulumi.output(7 as never) } }, { tags: { cost: 7 as never } }],
    ["all tags", { tags: pulumi.output("files" as never) }, { tags: "files" as never }],
    ["a size", { memory: pulumi.output("1") }, { memory: "1" }],
  ])("%s", async (_, later, plain) => {
    const failure = await failureOf(() => new ScaleToZeroTcp("sftp", { ...simple, ...later }));
    let words = "";
    try {
      new ScaleToZeroTcp("sftp", { ...simple, ...plain });
    } catch (error) {
      words = (error as Error).message;
    }
    expect(words).not.toBe("");
    expect(failure.message).toContain(words);
  });

  it.each<[string, object]>([
    ["targetHost: must be a host name or an address", { targetHost: pulumi.secret("hush hush") }],
    ["env: must be a map of names and values", { env: pulumi.secret("hush hush") }],
    ["tags: must be a map of names and values", { tags: pulumi.secret(["hush hush"]) }],
  ])("but a secret is not shown: %s", async (words, secret) => {
    const args = { ...simple, ...secret } as ScaleToZeroTcpArgs;
    const failure = await failureOf(() => new ScaleToZeroTcp("sftp", args));
    expect(failure.message).toContain(words);
    expect(failure.message).not.toContain("hush");
  });
});
