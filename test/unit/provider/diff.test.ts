import { describe, expect, it } from "vitest";
import { diff } from "../../../simulator/provider/mapping/diff.ts";
import type { ResourceKind } from "../../../simulator/provider/mapping/kind.ts";
import { unknown } from "../../../simulator/provider/mapping/values.ts";
import { kinds } from "../../../simulator/provider/registry.ts";
import type { JsonObject } from "../../../simulator/src/model.ts";

const kindNamed = (name: string) => kinds.find((kind) => kind.name === name) as ResourceKind;

const changes = (name: string, before: JsonObject, after: JsonObject) =>
  diff(kindNamed(name), before, after).map(
    ({ path, kind, replace }) => `${kind}${replace ? "!" : ""} ${path}`,
  );

describe("the paths of a change", () => {
  it.each<[string, JsonObject, JsonObject, string[]]>([
    ["nothing", { name: "abc", tags: {} }, { name: "abc", tags: {} }, []],
    ["a null, which is absence", { extras: null }, {}, []],
    [
      "a nested value",
      { options: { suspend: false } },
      { options: { suspend: true } },
      ["update options.suspend"],
    ],
    [
      "an entry of a map inside a list",
      { containers: [{ name: "main", env: { A: "1", X: "1" } }] },
      { containers: [{ name: "main", env: { A: "1", X: "2" } }] },
      ["update containers[0].env.X"],
    ],
    ["a key that is no identifier", { tags: {} }, { tags: { "a/b": "1" } }, ['add tags["a/b"]']],
    ["a key with quotes", { tags: { 'a"b': "1" } }, { tags: {} }, ['delete tags["a\\"b"]']],
    ["a block added", {}, { options: { suspend: false } }, ["add options"]],
    ["a block removed", { options: { suspend: false } }, {}, ["delete options"]],
    [
      "an element added at the end of a list",
      { containers: [{ name: "a" }] },
      { containers: [{ name: "a" }, { name: "b" }] },
      ["add containers[1]"],
    ],
    [
      "the order of a set",
      { firewallSpec: { external: { inboundAllowCidrs: ["1.0.0.0/8", "2.0.0.0/8"] } } },
      { firewallSpec: { external: { inboundAllowCidrs: ["2.0.0.0/8", "1.0.0.0/8"] } } },
      [],
    ],
    [
      "a member of a set",
      { firewallSpec: { external: { inboundAllowCidrs: ["1.0.0.0/8", "2.0.0.0/8"] } } },
      { firewallSpec: { external: { inboundAllowCidrs: ["3.0.0.0/8", "2.0.0.0/8", "4.0.0.0/8"] } } },
      ["update firewallSpec.external.inboundAllowCidrs[0]", "add firewallSpec.external.inboundAllowCidrs[2]"],
    ],
    [
      "the order of a list",
      { containers: [{ name: "a", args: ["1", "2"] }] },
      { containers: [{ name: "a", args: ["2", "1"] }] },
      ["update containers[0].args[0]", "update containers[0].args[1]"],
    ],
    [
      "a value not known yet",
      { options: { suspend: false } },
      { options: { suspend: unknown } },
      ["update options.suspend"],
    ],
    ["a block not known yet", { options: { suspend: false } }, { options: unknown }, ["update options"]],
  ])("%s", (_, before, after, expected) => {
    expect(changes("Workload", before, after).sort()).toEqual([...expected].sort());
  });
});

describe("what makes a new resource", () => {
  it.each<[string, string, JsonObject, JsonObject, string[]]>([
    ["a workload's name", "Workload", { name: "abc" }, { name: "xyz" }, ["update! name"]],
    ["its GVC", "Workload", { gvc: "abc" }, { gvc: unknown }, ["update! gvc"]],
    ["its type", "Workload", { type: "standard" }, { type: "stateful" }, ["update! type"]],
    ["not its tags", "Workload", { tags: { a: "1" } }, { tags: { a: "2" } }, ["update tags.a"]],
    ["an identity's GVC", "Identity", { gvc: "abc" }, { gvc: "xyz" }, ["update! gvc"]],
    [
      "a policy's kind of target",
      "Policy",
      { targetKind: "gvc" },
      { targetKind: "workload" },
      ["update! targetKind"],
    ],
    ["not a policy's GVC", "Policy", { gvc: "abc" }, { gvc: "xyz" }, ["update gvc"]],
    ["a policy that loses all its links", "Policy", { targetLinks: ["a", "b"] }, {}, ["delete! targetLinks"]],
    [
      "not one that loses a link",
      "Policy",
      { targetLinks: ["a", "b"] },
      { targetLinks: ["a"] },
      ["delete targetLinks[1]"],
    ],
    [
      "not links still unknown",
      "Policy",
      { targetLinks: ["a"] },
      { targetLinks: unknown },
      ["update targetLinks"],
    ],
  ])("%s", (_, name, before, after, expected) => {
    expect(changes(name, before, after)).toEqual(expected);
  });

  it("refuses to rename a GVC unless a tag says so", () => {
    const rename = (tags: JsonObject) => changes("Gvc", { name: "abc" }, { name: "xyz", tags });
    expect(() => rename({})).toThrow(/renaming "abc" to "xyz" would delete/);
    expect(rename({ "cpln/terraformReplace": "true" })).toContain("update! name");
  });
});
