import { describe, expect, it } from "vitest";
import { homeLink, parseLink, resolveLink, selfLink } from "../../../simulator/src/documents/links.ts";
import { containerNameProblem, nameProblems } from "../../../simulator/src/documents/names.ts";
import { cpuMillis, memoryMebibytes } from "../../../simulator/src/documents/quantities.ts";
import { matchesQuery, queryProblem } from "../../../simulator/src/documents/query.ts";
import {
  bool,
  checkShape,
  type Fields,
  int,
  list,
  oneOf,
  type Problem,
  record,
  required,
  shape,
  text,
} from "../../../simulator/src/documents/schema.ts";
import type { JsonObject, Resource } from "../../../simulator/src/model.ts";

describe("links", () => {
  it.each([
    ["//gvc/g/workload/w", "/org/o/gvc/g/workload/w"],
    ["//identity/i", "/org/o/gvc/here/identity/i"],
    ["//location/l", "/org/o/location/l"],
    ["//secret/s", "/org/o/secret/s"],
    ["//image/n:t", "/org/o/image/n:t"],
    ["/org/other/gvc/g/identity/i", "/org/other/gvc/g/identity/i"],
    ["bare", undefined],
    ["gvc/g/identity/i", undefined],
  ])("resolves %s", (link, expected) => {
    expect(resolveLink(link, { org: "o", gvc: "here" })).toBe(expected);
  });

  it("gives an identity without its GVC a link that leads nowhere, as the platform does", () => {
    expect(resolveLink("//identity/i", { org: "o" })).toBe("/org/o/identity/i");
    expect(parseLink("/org/o/identity/i")).toBeUndefined();
  });

  it.each([
    { org: "o", kind: "org", name: "o" },
    { org: "o", kind: "policy", name: "p" },
    { org: "o", kind: "workload", name: "w", gvc: "g" },
  ])("reads what it writes: $kind", (key) => {
    expect(parseLink(selfLink(key))).toEqual(key);
  });

  it.each(["/org", "/org/o/gvc/g/policy/p", "/org/o/gvc/g/workload", "/org/o/gvc/g/workload/w/x", "org/o"])(
    "%s names no document",
    (link) => {
      expect(parseLink(link)).toBeUndefined();
    },
  );

  it("knows collections", () => {
    expect(homeLink({ org: "o", kind: "org" })).toBe("/org");
    expect(homeLink({ org: "o", kind: "workload", gvc: "g" })).toBe("/org/o/gvc/g/workload");
  });
});

describe("names", () => {
  it.each(["abc", "a-b", "a1b", "x".repeat(49)])("takes %s", (name) => {
    expect(nameProblems(name, { max: 49, notEnding: "-headless" })).toEqual([]);
  });
  it.each(["", "ab", "Abc", "1ab", "ab-", "a_b", "x".repeat(50), "db-headless"])("refuses %s", (name) => {
    expect(nameProblems(name, { max: 49, notEnding: "-headless" })).toHaveLength(1);
  });
  it.each(["cpln-x", "debugger-x", "istio-proxy", "queue-proxy", "Main", "x".repeat(65)])(
    "refuses a container %s",
    (name) => {
      expect(containerNameProblem(name)).toBeDefined();
    },
  );
});

describe("quantities", () => {
  it.each([
    ["50m", 50],
    ["2", 2000],
    ["1.5", 1500],
    ["x", undefined],
  ])("CPU %s", (given, expected) => {
    expect(cpuMillis(given)).toBe(expected);
  });
  it.each([
    ["128Mi", 128],
    ["1Gi", 1024],
    ["1G", 1e9 / 2 ** 20],
    ["1e6", 1e6 / 2 ** 20],
    ["12Q", undefined],
  ])("memory %s", (given, expected) => {
    expect(memoryMebibytes(given)).toBe(expected);
  });
});

describe("fields", () => {
  const fields: Fields = {
    name: required(text({ min: 2, max: 4, pattern: /^[a-z]+$/ })),
    on: bool,
    count: int(1, 9),
    mode: oneOf("a", "b"),
    items: list(int(), { min: 1, max: 2, unique: true }),
    tags: record(text(), { max: 1 }),
    inner: shape({ deep: required(bool) }),
  };
  const check = (value: JsonObject) => {
    const problems: Problem[] = [];
    return {
      value: checkShape(fields, value, "", problems),
      messages: problems.map(({ message }) => message),
    };
  };

  it("coerces what the command line sends as text", () => {
    const sent = { name: "abc", on: "TRUE", count: "3", inner: { deep: "false" } };
    expect(check(sent)).toEqual({
      value: { name: "abc", on: true, count: 3, inner: { deep: false } },
      messages: [],
    });
  });

  it("takes null for absence", () => {
    expect(check({ name: "abc", on: null })).toEqual({ value: { name: "abc" }, messages: [] });
  });

  it.each([
    [{}, '"name" is required'],
    [{ name: null }, '"name" is required'],
    [{ name: 3 }, '"name" must be a string'],
    [{ name: "a" }, '"name" length must be at least 2 characters long'],
    [{ name: "abcde" }, '"name" length must be less than or equal to 4 characters long'],
    [{ name: "A1" }, '"name" fails to match the pattern /^[a-z]+$/'],
    [{ name: "ab", on: "yes" }, '"on" must be a boolean'],
    [{ name: "ab", count: "x" }, '"count" must be a number'],
    [{ name: "ab", count: 1.5 }, '"count" must be an integer'],
    [{ name: "ab", count: 0 }, '"count" must be greater than or equal to 1'],
    [{ name: "ab", count: 10 }, '"count" must be less than or equal to 9'],
    [{ name: "ab", mode: "c" }, '"mode" must be one of [a, b]'],
    [{ name: "ab", items: 1 }, '"items" must be an array'],
    [{ name: "ab", items: [] }, '"items" must contain at least 1 items'],
    [{ name: "ab", items: [1, 2, 3] }, '"items" must contain less than or equal to 2 items'],
    [{ name: "ab", items: [1, 1] }, '"items[1]" contains a duplicate value'],
    [{ name: "ab", tags: { a: "", b: "" } }, '"tags" must have less than or equal to 1 keys'],
    [{ name: "ab", tags: [] }, '"tags" must be of type object'],
    [{ name: "ab", inner: {} }, '"inner.deep" is required'],
    [{ name: "ab", inner: 1 }, '"inner" must be of type object'],
    [{ name: "ab", other: 1 }, '"other" is not allowed'],
    [{ name: "ab", toString: 1 }, '"toString" is not allowed'],
  ] as [JsonObject, string][])("%j: %s", (value, message) => {
    expect(check(value).messages).toEqual([message]);
  });
});

describe("-query", () => {
  const resource = {
    id: "1",
    kind: "workload",
    name: "sftp",
    version: 3,
    description: "a server",
    tags: { team: "x", level: 2 },
    created: "",
    lastModified: "",
    spec: { type: "standard" },
  } satisfies Resource;
  const links = [{ rel: "gvc", href: "/org/o/gvc/g" }];
  it.each([
    [{ op: "=", property: "name", value: "sftp" }, true],
    [{ property: "spec.type", value: "standard" }, true],
    [{ op: "!=", property: "name", value: "sftp" }, false],
    [{ op: "=", property: "version", value: "3" }, true],
    [{ op: ">", property: "version", value: 2 }, true],
    [{ op: "<=", property: "version", value: 2 }, false],
    [{ op: "<", property: "name", value: "zz" }, true],
    [{ op: ">=", property: "absent", value: 0 }, false],
    [{ op: "~", property: "description", value: "serv" }, true],
    [{ op: "exists", tag: "team" }, true],
    [{ op: "!exists", tag: "team" }, false],
    [{ op: "=", tag: "level", value: 2 }, true],
    [{ op: "=", rel: "gvc", value: "/org/o/gvc/g" }, true],
    [{ op: "=", rel: "none", value: "x" }, false],
    [{ op: "odd", property: "name", value: "sftp" }, false],
    [{ op: "=", value: "sftp" }, false],
  ] as [JsonObject, boolean][])("%j is %s", (term, expected) => {
    expect(matchesQuery({ match: "all", terms: [term] }, resource, links)).toBe(expected);
  });

  it("combines terms", () => {
    const [yes, no] = [
      { property: "name", value: "sftp" },
      { property: "name", value: "x" },
    ];
    const holds = (match: string) => matchesQuery({ match, terms: [yes, no] }, resource);
    expect([holds("all"), holds("any"), holds("none")]).toEqual([false, true, false]);
    expect(matchesQuery({}, resource)).toBe(true);
  });

  it.each([
    [{ match: "some" }],
    [{ terms: [{ op: "like", property: "a" }] }],
    [{ terms: [{ op: "=" }] }],
    [{ terms: [{ property: "a", tag: "b" }] }],
  ] as [JsonObject][])("refuses %j", (spec) => {
    expect(queryProblem(spec)).toBeDefined();
  });
});
