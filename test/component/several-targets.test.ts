import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { beforeEach, describe, expect, it } from "vitest";
import { ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import {
  failureOf,
  outputsRegistered,
  type Registered,
  settledValue,
  startMocks,
  UNKNOWN,
  unknownOutput,
} from "../support/mocks.ts";

const two: ScaleToZeroTcpArgs = {
  gvc: "prod",
  targets: [
    { target: "sftp", ports: [{ port: 22, target: 2022 }], idleHold: "1m" },
    { target: "db", ports: [{ port: 5432 }, { port: 9000, target: 9001 }] },
  ],
  allow: ["0.0.0.0/0"],
  maxHold: "45s",
};

let registered: Registered[];
beforeEach(async () => {
  registered = await startMocks();
});

async function make(args: ScaleToZeroTcpArgs) {
  const component = new ScaleToZeroTcp("shared", args);
  await Promise.all(Object.values(component.resources()).map(({ urn }) => settledValue(urn)));
  await outputsRegistered(registered, "shared");
  const of = (type: string) => registered.find((each) => each.type === type) as Registered;
  const workload = of("cpln:index/workload:Workload").inputs;
  const [container] = (workload.containers ?? []) as { env: Record<string, string> }[];
  return { component, workload, env: container?.env ?? {}, policy: of("cpln:index/policy:Policy").inputs };
}

const refusals = (args: unknown): Record<string, string> => {
  try {
    new ScaleToZeroTcp("shared", args as ScaleToZeroTcpArgs);
  } catch (error) {
    const { errors } = error as pulumi.InputPropertiesError;
    return Object.fromEntries(errors.map(({ propertyPath, reason }) => [propertyPath, reason]));
  }
  return {};
};

describe("several targets", () => {
  it("get a variable each, one load balancer, and one policy for exactly them", async () => {
    const { component, workload, env, policy } = await make(two);
    expect(JSON.parse(env.TARGET_1 ?? "")).toEqual({
      workload: "sftp",
      gvc: "prod",
      ports: [{ listen: 10_022, target: 2022, readiness: "ssh", wakeOn: "fitting" }],
      idleHold: "1m",
      maxHold: "45s",
    });
    expect(JSON.parse(env.TARGET_2 ?? "")).toEqual({
      workload: "db",
      gvc: "prod",
      ports: [
        { listen: 5432, target: 5432, readiness: "postgres", wakeOn: "fitting" },
        { listen: 9000, target: 9001 },
      ],
      maxHold: "45s",
    });
    expect(workload.loadBalancer).toMatchObject({
      direct: {
        ports: [
          { externalPort: 22, containerPort: 10_022 },
          { externalPort: 5432, containerPort: 5432 },
          { externalPort: 9000, containerPort: 9000 },
        ],
      },
    });
    expect(policy).toMatchObject({ gvc: "prod", targetLinks: ["sftp", "db"] });
    expect(policy.description).toBe("Scale to zero for prod/sftp, prod/db");
    expect(await settledValue(component.ports)).toBe("22,5432,9000");
  });

  it("in several GVCs are listed with whole links", async () => {
    const { policy } = await make({
      ...two,
      targets: [
        { target: "sftp", ports: [{ port: 22, target: 2022 }] },
        { target: "//gvc/data/workload/db", ports: [{ port: 5432 }] },
      ],
    });
    expect(policy).not.toHaveProperty("gvc");
    expect(policy.targetLinks).toEqual([
      "/org/acme/gvc/prod/workload/sftp",
      "/org/acme/gvc/data/workload/db",
    ]);
  });

  it("may be workloads themselves, in whatever wrapping", async () => {
    const db = new cpln.Workload("db", { gvc: "data", type: "standard", name: "db" });
    const target = { target: db, ports: [{ port: 5432 }] };
    for (const targets of [
      [target],
      pulumi.output([target]),
      Promise.resolve([target]),
      [pulumi.output(target)],
    ] as ScaleToZeroTcpArgs["targets"][]) {
      registered = await startMocks();
      const { policy } = await make({ ...two, targets: targets as never });
      expect(policy).toMatchObject({ gvc: "data", targetLinks: ["db"] });
    }
  });

  it.each([unknownOutput, () => [{ target: unknownOutput<string>(), ports: [{ port: 5432 }] }]])(
    "preview when they aren't known yet (%#)",
    async (targets) => {
      registered = await startMocks({ preview: true });
      const { policy } = await make({ ...two, targets: targets() as never });
      expect(policy).toMatchObject({ targetLinks: UNKNOWN, name: "shared-proxy-prod" });
    },
  );
});

describe("what can't be", () => {
  const [sftp, db] = two.targets as [object, object];
  it.each<[string, unknown, Record<string, string>]>([
    [
      "beside the arguments of one",
      { ...two, target: "x", ports: [] },
      { targets: "can't stand beside `target`, `ports`, which describe an only target" },
    ],
    ["none", { ...two, targets: [] }, { targets: 'must be a list of at least one target (got "[]")' }],
    ["no list", { ...two, targets: {} }, { targets: 'must be a list of at least one target (got "{}")' }],
    [
      "one twice",
      {
        ...two,
        targets: [sftp, db, { target: "//gvc/prod/workload/sftp", ports: [{ port: 23, target: 2023 }] }],
      },
      {
        "targets[2].target":
          'is given twice: give all of its ports in one place (got "//gvc/prod/workload/sftp")',
      },
    ],
    [
      "the proxy itself",
      { ...two, targets: [sftp, { target: "shared-proxy", ports: [{ port: 23, target: 2023 }] }] },
      { "targets[1].target": 'is the proxy itself (got "shared-proxy")' },
    ],
    [
      "a port that another target has",
      {
        ...two,
        targets: [
          sftp,
          { target: "db", ports: [{ port: 5432 }, { port: 22, target: 2023, listen: 23_000 }] },
        ],
      },
      { "targets[1].ports[1].port": 'is given twice (got "22")' },
    ],
    [
      "a listen port that another target has",
      {
        ...two,
        targets: [
          { target: "sftp", ports: [{ port: 22, target: 2022, listen: 3000 }] },
          { target: "db", ports: [{ port: 5432, listen: 3000 }] },
        ],
      },
      { "targets[1].ports[0].listen": 'is taken by another port (got "3000")' },
    ],
    [
      "parts of it",
      { ...two, targets: [{ target: "SFTP", ports: [{}] }, { ports: 5 }, 7], maxHold: "1" },
      {
        "targets[0].target": expect.stringMatching(/^must be a name/),
        "targets[0].ports[0].port": "is required",
        "targets[1].target": "is required",
        "targets[1].ports": 'must be a list (got "5")',
        "targets[2].target": "is required",
        "targets[2].ports": "is required",
        maxHold: 'needs a unit, such as 1s or 1m (got "1")',
      },
    ],
    [
      "a duration of one's own",
      { ...two, targets: [{ ...sftp, idleHold: "5" }, db] },
      { "targets[0].idleHold": 'needs a unit, such as 5s or 5m (got "5")' },
    ],
  ])("%s", (_, args, expected) => {
    expect(refusals(args)).toEqual(expected);
  });

  it("is said of an Output with the same words", async () => {
    const failure = await failureOf(
      () =>
        new ScaleToZeroTcp("shared", {
          ...two,
          targets: pulumi.output([{ target: "SFTP", ports: [] }]) as never,
        }),
    );
    expect(failure.message).toContain("targets[0].target: must be a name");
    expect(failure.message).toContain("targets[0].ports: must name at least one port");
  });
});
