import { describe, expect, it } from "vitest";
import { bareName, nameProblem, newNameProblem, parseLink } from "../../../src/contract/links.ts";

describe("a link is taken apart", () => {
  it.each([
    ["sftp", { name: "sftp" }],
    [" sftp ", { name: "sftp" }],
    ["/org/acme", { kind: "org", name: "acme" }],
    ["/org/acme/location/aws-us-west-2", { org: "acme", kind: "location", name: "aws-us-west-2" }],
    ["/org/acme/gvc/prod", { org: "acme", kind: "gvc", name: "prod" }],
    ["/org/acme/gvc/prod/workload/sftp", { org: "acme", gvc: "prod", kind: "workload", name: "sftp" }],
    ["//gvc/prod/workload/sftp", { gvc: "prod", kind: "workload", name: "sftp" }],
    ["//gvc/prod", { kind: "gvc", name: "prod" }],
    ["//location/aws-us-west-2", { kind: "location", name: "aws-us-west-2" }],
  ])("%s", (text, parts) => expect(parseLink(text)).toEqual(parts));

  it.each([
    "",
    "/",
    "//",
    "gvc/prod/workload/sftp",
    "/gvc/prod/workload/sftp",
    "/org/acme/gvc",
    "/org//gvc/prod",
    "//gvc/prod/workload/",
    "/org/acme/gvc/prod/workload/sftp/deployment/here",
    "two words",
  ])("%j is none", (text) => expect(parseLink(text)).toBeUndefined());
});

it("a name is taken from a link of the right kind alone", () => {
  expect(bareName("/org/acme/gvc/prod/workload/sftp", "workload")).toBe("sftp");
  expect(bareName("/org/acme/gvc/prod/workload/sftp", "identity")).toBeUndefined();
  expect(bareName("sftp", "identity")).toBe("sftp");
});

describe("names", () => {
  it.each<[string, string, RegExp | undefined]>([
    ["workload", "sftp", undefined],
    ["workload", "a".repeat(49), undefined],
    ["workload", "a".repeat(50), /at most 49/],
    ["workload", "my-headless", /-headless/],
    ["gvc", "my-headless", undefined],
    ["gvc", "a".repeat(63), undefined],
    ["gvc", "a".repeat(64), /at most 63/],
    ["gvc", "g", undefined],
    ["gvc", "1g", /a letter first/],
    ["gvc", "g-", /no hyphen last/],
    ["gvc", "G", /lower-case/],
    ["gvc", "", /lower-case/],
    ["gvc", "a.b", /lower-case/],
  ])("%s %j: %s", (kind, name, reason) => {
    if (reason === undefined) expect(nameProblem(kind, name)).toBeUndefined();
    else expect(nameProblem(kind, name)).toMatch(reason);
  });

  it("of new things have at least three letters", () => {
    expect(newNameProblem("workload", "ab")).toMatch(/at least 3/);
    expect(newNameProblem("workload", "abc")).toBeUndefined();
  });
});
