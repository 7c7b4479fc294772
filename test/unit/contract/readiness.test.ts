import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatProblem, parseEnvironment } from "../../../src/contract/environment.ts";
import { fromEscapes } from "../../../src/contract/escapes.ts";
import { KINDS, PROTOCOLS } from "../../../src/contract/readiness.ts";
import { readReadiness, writeReadiness } from "../../../src/contract/readiness-grammar.ts";
import { readinessText } from "../../support/settings-arbitrary.ts";

const env = (port: object, more: object = {}) => ({
  CPLN_ENDPOINT: "http://api.cpln.io",
  CPLN_ORG: "org",
  CPLN_GVC: "demo",
  CPLN_TOKEN: "t",
  TARGET_1: JSON.stringify({ workload: "db", ports: [{ listen: 5432, target: 5432, ...port }], ...more }),
});
const mapping = (port: object) => {
  const parsed = parseEnvironment(env(port));
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join("\n"));
  return parsed.settings.targets[0]?.ports[0];
};
const complaints = (port: object, more: object = {}) => {
  const parsed = parseEnvironment(env(port, more));
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
};

describe("readiness", () => {
  it("is a banner on any connection unless it is said", () => {
    expect(mapping({})).toMatchObject({ readiness: { kind: "banner" }, wakeOn: "connect" });
  });

  it("is a kind alone, or an object with its options and their defaults", () => {
    expect(mapping({ readiness: "redis", wakeOn: "fitting" })).toMatchObject({
      readiness: { kind: "redis" },
      wakeOn: "fitting",
    });
    expect(mapping({ readiness: "postgres" })?.readiness).toEqual({
      kind: "postgres",
      user: "postgres",
      database: "postgres",
    });
    expect(mapping({ readiness: { kind: "http", path: "/healthz" } })?.readiness).toEqual({
      kind: "http",
      method: "GET",
      path: "/healthz",
    });
    expect(mapping({ readiness: "replay" })?.readiness).toEqual({ kind: "replay", bytes: 16_384 });
  });

  it("takes what is sent as text with escapes or as hex", () => {
    const sent = (readiness: object) => mapping({ readiness: { kind: "custom", ...readiness } })?.readiness;
    expect(sent({ send: "PING\\r\\n\\x00é\\\\" })).toEqual({ kind: "custom", send: "50494e470d0a00c3a95c" });
    expect(sent({ sendHex: "00FF" })).toEqual({ kind: "custom", send: "00ff" });
    expect(fromEscapes("\\q")).toBeUndefined();
    expect(fromEscapes("end\\")).toBeUndefined();
    expect(fromEscapes("\\x1")).toBeUndefined();
  });

  it("reads back what it writes", () => {
    fc.assert(
      fc.property(readinessText, (given) => {
        const read = readReadiness(given);
        expect(read.ok && readReadiness(JSON.parse(JSON.stringify(writeReadiness(read.value))))).toEqual(
          read,
        );
      }),
    );
  });

  it.each<[object, RegExp]>([
    [{ readiness: "kafka" }, /ports\[0\]\.readiness: must be one of banner, ssh, /],
    [{ readiness: { path: "/" } }, /ports\[0\]\.readiness\.kind: is required/],
    [{ readiness: 7 }, /ports\[0\]\.readiness: must be one of .* or an object with such a kind/],
    [{ readiness: { kind: "redis", path: "/" } }, /readiness\.path: is not known; redis takes no options/],
    [
      { readiness: { kind: "http", path: "x" } },
      /readiness\.path: must be a path such as \/healthz \(got "x"\)/,
    ],
    [{ readiness: { kind: "banner", pattern: "(" } }, /readiness\.pattern: must be a regular expression/],
    [{ readiness: "custom" }, /readiness: needs either send or sendHex/],
    [{ readiness: { kind: "replay", bytes: 0 } }, /readiness\.bytes: must be a whole number/],
    [{ wakeOn: "thought" }, /wakeOn: must be one of connect, payload, fitting/],
  ])("refuses %j by its place", (port, said) => {
    expect(complaints(port)).toEqual([expect.stringMatching(said)]);
  });
});

describe("what would wait for ever", () => {
  const serverFirst = Object.entries(KINDS).filter(([, { first, atOnce }]) => first === "server" && !atOnce);

  it.each(serverFirst.map(([kind]) => kind))("is refused: payload with %s", (kind) => {
    expect(complaints({ readiness: kind, wakeOn: "payload" })).toEqual([
      expect.stringContaining("wakeOn: would wait for bytes of a client that waits for the server"),
    ]);
  });

  it.each(Object.keys(PROTOCOLS).filter((name) => !serverFirst.some(([kind]) => kind === name)))(
    "is not a fitting payload with %s",
    (kind) => {
      expect(complaints({ readiness: kind, wakeOn: "fitting" })).toEqual([]);
    },
  );

  it("is refused where no byte is read, or what fits can't be told, or a replay could not be kept", () => {
    const custom = { readiness: { kind: "custom", send: "x" } };
    expect(complaints({ ...custom, wakeOn: "payload" })).toEqual([]);
    expect(complaints({ ...custom, wakeOn: "fitting" })).toEqual([
      expect.stringContaining("needs a named protocol"),
    ]);
    expect(complaints({ readiness: "redis", wakeOn: "fitting" }, { earlyBytes: 0 })).toEqual([
      expect.stringContaining("EARLY_BYTES is 0"),
    ]);
    expect(complaints({ readiness: "replay" }, { earlyBytes: 1000 })).toEqual([
      expect.stringContaining("keeps more bytes than EARLY_BYTES, 1000"),
    ]);
  });
});
