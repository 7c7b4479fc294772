import { describe, expect, it } from "vitest";
import { formatPath } from "../../../src/contract/problems.ts";
import { CHECKS } from "../../../src/preflight/catalogue.ts";
import { readWorkload } from "../../../src/preflight/documents.ts";
import { isFatal, judgeGvc, judgeTarget, type Wanted } from "../../../src/preflight/judge.ts";

const wanted: Wanted = {
  target: { gvc: "prod", name: "sftp" },
  proxy: { gvc: "prod", name: "sftp-proxy" },
  ports: [{ number: 2022, variable: "ports", path: [0, "target"] }],
  maxHoldMs: 90_000,
  at: (argument) => ({ variable: argument, path: [] }),
};

/** A target with which everything is right, as a resource of the program. */
const right = {
  type: "standard",
  containers: [{ ports: [{ number: 2022, protocol: "tcp" }], readinessProbe: { initialDelaySeconds: 1 } }],
  options: { autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 }, suspend: true },
  firewallSpec: {
    internal: {
      inboundAllowType: "workload-list",
      inboundAllowWorkloads: ["//gvc/prod/workload/sftp-proxy"],
    },
  },
};
const internal = (inboundAllowType: string, ...inboundAllowWorkloads: string[]) => ({
  firewallSpec: { internal: { inboundAllowType, inboundAllowWorkloads } },
});
const scale = (autoscaling: object) => ({ options: { autoscaling } });
const container = (change: object) => ({ containers: [{ ...right.containers[0], ...change }] });

const judge = (change: object, other: Partial<Wanted> = {}) =>
  judgeTarget(readWorkload({ ...right, ...change }), { ...wanted, ...other });

describe("a target", () => {
  it.each<[string, object, string[]]>([
    ["that is right", {}, []],
    ["of which nothing is known", { type: undefined, firewallSpec: undefined }, []],
    ["that is stateful", { type: "stateful" }, []],
    ["that is serverless", { type: "serverless" }, ["error type target"]],
    ["that is a cron job", { type: "cron" }, ["error type target"]],
    ["scaled by KEDA", scale({ metric: "keda", minScale: 0, maxScale: 3 }), ["error scaler target"]],
    ["without replicas", scale({ metric: "disabled", minScale: 0, maxScale: 0 }), ["error replicas target"]],
    [
      "that declares another port",
      container({ ports: [{ number: 22_000, protocol: "tcp" }] }),
      ["error undeclared ports[0].target"],
    ],
    ["that declares no port", container({ ports: undefined }), ["error undeclared ports[0].target"]],
    [
      "that declares it as http",
      container({ ports: [{ number: 2022, protocol: "http" }] }),
      ["warning protocol ports[0].target"],
    ],
    [
      "that declares it the older way",
      container({ ports: [], port: 2022 }),
      ["warning protocol ports[0].target"],
    ],
    ["closed", { firewallSpec: undefined }, ["warning firewall target"]],
    ["open to nobody", internal("none"), ["warning firewall target"]],
    ["open to others", internal("workload-list", "//gvc/prod/workload/other"), ["warning firewall target"]],
    [
      "open to its name in another GVC",
      internal("workload-list", "//gvc/dev/workload/sftp-proxy"),
      ["warning firewall target"],
    ],
    ["open by a whole link", internal("workload-list", "/org/acme/gvc/prod/workload/sftp-proxy"), []],
    ["open to its GVC", internal("same-gvc"), []],
    ["open to its organisation", internal("same-org"), []],
    [
      "with options of one location",
      { localOptions: [{ location: "aws-us-west-2", suspend: false }] },
      ["warning localOptions target"],
    ],
    [
      "ready too late",
      container({ readinessProbe: { initialDelaySeconds: 90 } }),
      ["warning probes maxHold"],
    ],
    [
      "ready too late by its thresholds",
      container({ readinessProbe: { successThreshold: 9 } }),
      ["warning probes maxHold"],
    ],
    ["with its probe's defaults", container({ readinessProbe: {} }), []],
  ])("%s", (_, change, expected) => {
    const found = judge(change);
    expect(
      found.map(
        (each) => `${CHECKS[each.check].level} ${each.check} ${formatPath([each.variable, ...each.path])}`,
      ),
    ).toEqual(expected);
    for (const each of found) {
      expect(each.reason).toContain("prod/sftp");
      expect(each.reason.endsWith(CHECKS[each.check].remedy)).toBe(true);
      expect(isFatal(each)).toBe(CHECKS[each.check].level === "error");
    }
  });

  it("of another GVC is not reached by same-gvc", () => {
    const proxy = { gvc: "edge", name: "sftp-proxy" };
    expect(judge(internal("same-gvc"), { proxy }).map(({ check }) => check)).toEqual(["firewall"]);
    expect(judge(internal("none"), { proxy })[0]?.reason).toContain('"//gvc/edge/workload/sftp-proxy"');
  });

  it("is the same as a lookup answers it", () => {
    const lookedUp = {
      type: "standard",
      containers: [
        { ports: [{ number: 2022, protocol: "tcp" }], readinessProbes: [{ initialDelaySeconds: 95 }] },
      ],
      options: [{ suspend: false, autoscalings: [{ metric: "keda" }] }],
      localOptions: [{ location: "/org/acme/location/aws-us-west-2" }],
      firewallSpecs: [{ internals: [{ inboundAllowType: "none", inboundAllowWorkloads: [] }] }],
    };
    const found = judgeTarget(readWorkload(lookedUp), wanted);
    expect(found.map(({ check }) => check)).toEqual(["scaler", "firewall", "localOptions", "probes"]);
    expect(found[2]?.reason).toContain("in aws-us-west-2,");
  });
});

describe("a GVC", () => {
  const one = ["aws-us-west-2"];
  const two = ["/org/acme/location/aws-us-west-2", "aws-eu-central-1"];
  it.each<[string, string[], string | undefined, number]>([
    ["of unknown locations", [], undefined, 0],
    ["with one location", one, undefined, 0],
    ["with the one that was named", one, "aws-us-west-2", 0],
    ["without the one that was named", one, "aws-eu-central-1", 1],
    ["with two locations", two, undefined, 1],
    ["with two locations, of which one was named", two, "aws-us-west-2", 0],
  ])("%s", (_, locations, location, problems) => {
    const found = judgeGvc("prod", locations, location);
    expect(found).toHaveLength(problems);
    for (const each of found) expect([each.variable, isFatal(each)]).toEqual(["location", true]);
  });
});
