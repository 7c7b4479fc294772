import { describe, expect, it } from "vitest";
import { formatProblem, oversized, parseEnvironment } from "../../../src/contract/environment.ts";

const platform = {
  CPLN_ENDPOINT: "http://api.cpln.io/",
  CPLN_ORG: "acme",
  CPLN_GVC: "prod",
  CPLN_WORKLOAD: "/org/acme/gvc/prod/workload/sftp-proxy",
  CPLN_LOCATION: "/org/acme/location/aws-us-west-2",
  CPLN_TOKEN: "s3cret-token",
};
const single = { ...platform, TARGET_WORKLOAD: "sftp", PORT_MAPPINGS: "2022" };
const target1 = (json: unknown) => ({ ...platform, TARGET_1: JSON.stringify(json) });
const minimal = { workload: "sftp", ports: [{ listen: 2022, target: 22 }] };

const settingsOf = (env: Record<string, string | undefined>) => {
  const parsed = parseEnvironment(env);
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join("\n"));
  return parsed.settings;
};
const complaints = (env: Record<string, string | undefined>) => {
  const parsed = parseEnvironment(env);
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
};

describe("the founding variables", () => {
  it("mean a list of one, with the founding defaults", () => {
    expect(settingsOf(single)).toEqual({
      targets: [
        {
          workload: "sftp",
          gvc: "prod",
          host: "sftp.prod.cpln.local",
          ports: [{ listen: 2022, target: 2022, readiness: { kind: "banner" }, wakeOn: "connect" }],
          idleHoldMs: 300_000,
          maxHoldMs: 90_000,
          wakeTimeoutMs: 120_000,
          wakePollIntervalMs: 500,
          probeWindowMs: 2000,
          holdEnd: "close",
          clientFin: "leave",
          watchIntervalMs: 15_000,
          maxHeld: 1000,
          maxConnections: 4000,
          dialLimit: 64,
          earlyBytes: 16_384,
        },
      ],
      healthPort: 8081,
      listenHost: "::",
      drainTimeoutMs: 75_000,
      ownGraceMs: undefined,
      dataPlane: "auto",
      halfCloseLingerMs: 3_600_000,
      stallLimitMs: 3_600_000,
      maxHeldTotal: 2000,
      maxConnectionsTotal: 8000,
      platform: {
        endpoint: "http://api.cpln.io",
        org: "acme",
        gvc: "prod",
        workload: "sftp-proxy",
        location: "aws-us-west-2",
        token: "s3cret-token",
      },
    });
  });

  it.each([
    ["2022", [[2022, 2022]]],
    ["2022:22", [[2022, 22]]],
    [
      " 2022 : 22 , 9000 ,",
      [
        [2022, 22],
        [9000, 9000],
      ],
    ],
    ["22:22", [[22, 22]]],
    ["65535:1", [[65_535, 1]]],
  ])("take PORT_MAPPINGS %j", (text, pairs) => {
    const [target] = settingsOf({ ...single, PORT_MAPPINGS: text }).targets;
    expect(target?.ports.map(({ listen, target: to }) => [listen, to])).toEqual(pairs);
  });

  it("take links for names, and the GVC from a link", () => {
    const [target] = settingsOf({ ...single, TARGET_WORKLOAD: "/org/acme/gvc/data/workload/db" }).targets;
    expect(target).toMatchObject({ workload: "db", gvc: "data", host: "db.data.cpln.local" });
  });

  it("do not need CPLN_GVC where the target's is said", () => {
    const settings = settingsOf({ ...single, CPLN_GVC: undefined, TARGET_GVC: "data" });
    expect(settings.platform.gvc).toBe("data");
  });

  it("count as absent when empty", () => {
    expect(settingsOf({ ...single, IDLE_HOLD: " ", TARGET_1: "" }).targets[0]?.idleHoldMs).toBe(300_000);
  });
});

describe("TARGET_n", () => {
  it("means one target each, in the order of the numbers, gaps or not", () => {
    const one = (workload: string, listen: number) =>
      JSON.stringify({ workload, ports: [{ listen, target: 22, readiness: "banner" }] });
    const settings = settingsOf({
      ...platform,
      TARGET_10: one("ten", 2010),
      TARGET_9: one("nine", 2009),
      TARGET_1: one("one", 2001),
    });
    expect(settings.targets.map(({ workload }) => workload)).toEqual(["one", "nine", "ten"]);
  });

  it("takes what it does not say from the variables, and what they do not say from the defaults", () => {
    const env = { ...target1({ ...minimal, idleHold: "1h" }), IDLE_HOLD: "10m", MAX_HOLD: "45s" };
    expect(settingsOf(env).targets[0]).toMatchObject({
      idleHoldMs: 3_600_000,
      maxHoldMs: 45_000,
      wakeTimeoutMs: 120_000,
    });
  });

  it("takes the GVC from a link to the workload", () => {
    const [target] = settingsOf(target1({ ...minimal, workload: "//gvc/data/workload/db" })).targets;
    expect(target).toMatchObject({ workload: "db", gvc: "data" });
  });
});

describe("problems", () => {
  it.each<[string, Record<string, string | undefined>, string[]]>([
    ["no workload", { ...single, TARGET_WORKLOAD: undefined }, ["TARGET_WORKLOAD: is required"]],
    ["no ports", { ...single, PORT_MAPPINGS: undefined }, ["PORT_MAPPINGS: is required"]],
    [
      "nothing at all",
      {},
      [
        "TARGET_WORKLOAD: is required",
        "PORT_MAPPINGS: is required",
        "TARGET_GVC: is required where CPLN_GVC is absent",
        "CPLN_ENDPOINT: is required",
        "CPLN_ORG: is required",
        "CPLN_TOKEN: is required",
      ],
    ],
    [
      "ports that are none",
      { ...single, PORT_MAPPINGS: "ssh" },
      ['PORT_MAPPINGS: must be pairs such as 2022:2022, separated by commas; "ssh" is none (got "ssh")'],
    ],
    [
      "port 0",
      { ...single, PORT_MAPPINGS: "0:22" },
      ['PORT_MAPPINGS: "0:22" is outside 1-65535 (got "0:22")'],
    ],
    [
      "port 65536",
      { ...single, PORT_MAPPINGS: "22:65536" },
      ['PORT_MAPPINGS: "22:65536" is outside 1-65535 (got "22:65536")'],
    ],
    [
      "a listener twice",
      { ...single, PORT_MAPPINGS: "22:1,22:2" },
      ['PORT_MAPPINGS: listens on 22 twice (got "22:1,22:2")'],
    ],
    [
      "only commas",
      { ...single, PORT_MAPPINGS: "," },
      ['PORT_MAPPINGS: must name at least one port (got ",")'],
    ],
    [
      "the health port",
      { ...single, PORT_MAPPINGS: "8081" },
      ['PORT_MAPPINGS: is taken by HEALTH_PORT (got "8081")'],
    ],
    [
      "no unit",
      { ...single, IDLE_HOLD: "300" },
      ['IDLE_HOLD: needs a unit, such as 300s or 300m (got "300")'],
    ],
    ["zero", { ...single, MAX_HOLD: "0s" }, ['MAX_HOLD: must be longer than 0s (got "0s")']],
    ["negative", { ...single, MAX_HOLD: "-5s" }, ['MAX_HOLD: must be longer than 0s (got "-5s")']],
    ["absurd", { ...single, MAX_HOLD: "999h" }, ['MAX_HOLD: must be between 1ms and 1h (got "999h")']],
    ["a word", { ...single, HOLD_END: "drop" }, ['HOLD_END: must be one of close, reset (got "drop")']],
    ["a fraction", { ...single, MAX_HELD: "1.5" }, ['MAX_HELD: must be a whole number (got "1.5")']],
    ["too many", { ...single, MAX_HELD: "99999" }, ['MAX_HELD: must be between 1 and 60000 (got "99999")']],
    [
      "a scheme in the host",
      { ...single, TARGET_HOST: "tcp://x" },
      ['TARGET_HOST: must be a host name or an address, without scheme or port (got "tcp://x")'],
    ],
    [
      "a name with capitals",
      { ...single, TARGET_WORKLOAD: "SFTP" },
      [
        'TARGET_WORKLOAD: must be a name: lower-case letters, digits and hyphens, a letter first, no hyphen last (got "SFTP")',
      ],
    ],
    [
      "a link to something else",
      { ...single, TARGET_WORKLOAD: "//gvc/g/identity/i" },
      ['TARGET_WORKLOAD: must be the name of a workload, or a link to one (got "//gvc/g/identity/i")'],
    ],
    [
      "two GVCs",
      { ...single, TARGET_WORKLOAD: "//gvc/one/workload/w", TARGET_GVC: "two" },
      ['TARGET_GVC: names another GVC than the link in TARGET_WORKLOAD, one (got "two")'],
    ],
    [
      "an endpoint with credentials",
      { ...single, CPLN_ENDPOINT: "http://u@h" },
      [
        'CPLN_ENDPOINT: must be an http or https URL without credentials, query or fragment (got "http://u@h")',
      ],
    ],
    [
      "both ways to name a target",
      { ...target1(minimal), TARGET_WORKLOAD: "x", PORT_MAPPINGS: "1:1" },
      [
        'TARGET_WORKLOAD: can\'t stand beside TARGET_1, which says it all (got "x")',
        'PORT_MAPPINGS: can\'t stand beside TARGET_1, which says it all (got "1:1")',
      ],
    ],
    ["no JSON", { ...platform, TARGET_1: "{" }, ['TARGET_1: must be JSON (got "{")']],
    ["no object", target1([]), ['TARGET_1: must be an object (got "[]")']],
    ["an empty object", target1({}), ["TARGET_1.workload: is required", "TARGET_1.ports: is required"]],
    [
      "an empty list",
      target1({ ...minimal, ports: [] }),
      ['TARGET_1.ports: must name at least one port (got "[]")'],
    ],
    [
      "several things in one target",
      target1({ workload: "s f", ports: [{ listen: 0, target: 22, x: 1 }, {}], idleHold: 5, typo: true }),
      [
        'TARGET_1.workload: must be the name of a workload, or a link to one (got "s f")',
        'TARGET_1.ports[0].listen: must be between 1 and 65535 (got "0")',
        "TARGET_1.ports[0].x: is not known; known are listen, target, readiness, wakeOn",
        "TARGET_1.ports[1].listen: is required",
        "TARGET_1.ports[1].target: is required",
        'TARGET_1.idleHold: must be text such as "5m" (got "5")',
        "TARGET_1.typo: is not known; known are workload, gvc, host, ports, idleHold, maxHold, wakeTimeout, " +
          "wakePollInterval, probeWindow, holdEnd, clientFin, watchInterval, maxHeld, maxConnections, dialLimit, earlyBytes",
      ],
    ],
    [
      "an unknown readiness",
      target1({ workload: "w", ports: [{ listen: 1, target: 1, readiness: "guess" }] }),
      [
        'TARGET_1.ports[0].readiness: must be one of banner, ssh, smtp, ftp, imap, pop3, mysql, postgres, redis, mqtt, amqp, http, tls, minecraft, memcached, custom, replay, platform (got "guess")',
      ],
    ],
    [
      "a number that begins at 0",
      { ...platform, TARGET_0: JSON.stringify(minimal) },
      ["TARGET_0: is not a target's number: they begin at 1, without leading zeros"],
    ],
    [
      "one listener for two targets",
      { ...target1(minimal), TARGET_2: JSON.stringify({ ...minimal, workload: "two" }) },
      ['TARGET_2.ports[0].listen: is taken by TARGET_1 (got "2022")'],
    ],
    [
      "another GVC than the link's",
      target1({ ...minimal, workload: "//gvc/one/workload/w", gvc: "two" }),
      ['TARGET_1.gvc: names another GVC than the link to the workload, one (got "two")'],
    ],
    [
      "no GVC anywhere",
      { ...target1(minimal), CPLN_GVC: undefined },
      ["TARGET_1.gvc: is required where CPLN_GVC is absent"],
    ],
  ])("%s", (_, env, expected) => expect(complaints(env)).toEqual(expected));

  it("never show a secret", () => {
    const found = complaints({ ...single, CPLN_TOKEN: "two words" });
    expect(found).toEqual(["CPLN_TOKEN: must be printable text without spaces"]);
  });

  it("stay on one line and short, whatever the value", () => {
    const found = complaints({ ...single, IDLE_HOLD: `\n\u001b[2J\u009b${"x".repeat(500)}` });
    expect(found[0]).toMatch(/^IDLE_HOLD: is too long .* \(got "\\n\\u001b\[2J\\u009bx+…"\)$/);
    expect(found[0]?.length).toBeLessThan(200);
  });

  it("of a newer edition stand alone, as a kind of their own", () => {
    const parsed = parseEnvironment({ ...target1({ future: 1 }), SETTINGS_VERSION: "2" });
    expect(parsed).toMatchObject({ ok: false, problems: [{ kind: "newer", variable: "SETTINGS_VERSION" }] });
    expect(complaints({ SETTINGS_VERSION: "2" })).toEqual([
      'SETTINGS_VERSION: is newer than this proxy knows, 1: deploy a newer proxy image (got "2")',
    ]);
  });

  it("are found in a variable that the platform would not take", () => {
    expect(oversized({ A: "x".repeat(4096), B: "x".repeat(4097) }).map(formatProblem)).toEqual([
      "B: is 4097 characters long, and the platform takes 4096",
    ]);
  });
});

describe("warnings", () => {
  const warnings = (env: Record<string, string>) => {
    const parsed = parseEnvironment({ ...single, ...env });
    return parsed.ok ? parsed.warnings : ["refused"];
  };

  it.each<[Record<string, string>, string[]]>([
    [{}, []],
    [{ OWN_GRACE: "90s" }, []],
    [{ MAX_HOLD: "5s" }, ["MAX_HOLD: a client is dropped after 5s, before most targets can be awake"]],
    [
      { WAKE_TIMEOUT: "20s" },
      ["WAKE_TIMEOUT: an attempt of 20s is given up several times while one client is held for 1m30s"],
    ],
    [
      { PROBE_WINDOW: "60s", WAKE_TIMEOUT: "50s" },
      ["PROBE_WINDOW: 1m leaves no time for a second probe within MAX_HOLD and WAKE_TIMEOUT"],
    ],
    [
      { OWN_GRACE: "60s" },
      [
        "DRAIN_TIMEOUT: sessions are to drain for 1m15s, but of the grace of 1m the platform's own shutdown leaves 45s",
      ],
    ],
    [
      { OWN_GRACE: "90s", IDLE_HOLD: "1m" },
      ["IDLE_HOLD: after its own start the proxy still waits 1m45s before it suspends anything"],
    ],
    [
      { MAX_HELD: "3000", MAX_CONNECTIONS: "2500" },
      [
        "MAX_HELD: is above MAX_CONNECTIONS, which counts held clients too, and so has no effect",
        "MAX_HELD: is above MAX_HELD_TOTAL and so has no effect",
      ],
    ],
  ])("%j", (env, expected) => expect(warnings(env)).toEqual(expected));
});
