import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isObject, sameJson } from "../../../simulator/src/documents/json.ts";
import { applyPatch, PatchError } from "../../../simulator/src/documents/patch.ts";
import type { Json, JsonObject } from "../../../simulator/src/model.ts";

const workload: JsonObject = {
  tags: { a: "1", b: "2" },
  spec: {
    defaultOptions: { suspend: false, autoscaling: { minScale: 1, maxScale: 3 } },
    containers: [
      { name: "main", env: [{ name: "X", value: "1" }] },
      { name: "side", env: [] },
    ],
    localOptions: [{ location: "/org/o/location/l", suspend: false, timeoutSeconds: 9 }],
    ports: [1, 2, 3],
  },
};

const rows: [string, JsonObject, string, Json | undefined][] = [
  [
    "objects merge deeply",
    { spec: { defaultOptions: { suspend: true } } },
    "spec.defaultOptions",
    {
      suspend: true,
      autoscaling: { minScale: 1, maxScale: 3 },
    },
  ],
  ["null removes", { tags: { a: null } }, "tags", { b: "2" }],
  ["null removes an object", { spec: { defaultOptions: null } }, "spec.defaultOptions", undefined],
  ["a plain array replaces", { spec: { ports: [9] } }, "spec.ports", [9]],
  ["$replace/ does not merge", { "$replace/tags": { c: "3" } }, "tags", { c: "3" }],
  ["$replace/ null removes", { "$replace/tags": null }, "tags", undefined],
  ["$replace/ nests", { spec: { "$replace/defaultOptions": {} } }, "spec.defaultOptions", {}],
  ["$drop removes keys", { tags: { $drop: ["b"] } }, "tags", { a: "1" }],
  ["$append/", { spec: { "$append/ports": [4] } }, "spec.ports", [1, 2, 3, 4]],
  ["$append/ to nothing", { spec: { "$append/more": [4] } }, "spec.more", [4]],
  ["$drop/ by value", { spec: { "$drop/ports": [2] } }, "spec.ports", [1, 3]],
  ["$drop/ by name", { spec: { "$drop/containers": ["side", "none"] } }, "spec.containers.length", undefined],
  ["$retain/", { spec: { "$retain/ports": [2, 7] } }, "spec.ports", [2]],
  [
    "$patch/ by name, nested",
    {
      spec: {
        "$patch/containers": [
          {
            name: "main",
            "$patch/env": [{ name: "X", value: "2" }],
            "$append/env": [{ name: "Y", value: "3" }],
          },
        ],
      },
    },
    "spec.containers.0.env",
    [
      { name: "X", value: "2" },
      { name: "Y", value: "3" },
    ],
  ],
  [
    "$patch/ adds what is not there",
    { spec: { "$patch/containers": [{ name: "new" }] } },
    "spec.containers.2",
    { name: "new" },
  ],
];

function at(value: Json | undefined, path: string): Json | undefined {
  return path
    .split(".")
    .reduce<Json | undefined>(
      (here, step) => (Array.isArray(here) ? here[Number(step)] : isObject(here) ? here[step] : undefined),
      value,
    );
}

describe("PATCH", () => {
  it.each(rows)("%s", (_title, patch, path, expected) => {
    expect(at(applyPatch(workload, patch), path)).toEqual(expected);
  });

  it("leaves what it is given alone", () => {
    const copy = structuredClone(workload);
    for (const [, patch] of rows) applyPatch(workload, patch);
    expect(workload).toEqual(copy);
  });

  it("drops array items by name", () => {
    const after = applyPatch(workload, { spec: { "$drop/containers": ["side"] } });
    expect(at(after, "spec.containers")).toEqual([{ name: "main", env: [{ name: "X", value: "1" }] }]);
  });

  it.each([
    [{ $unknown: [] }],
    [{ "$unknown/x": [] }],
    [{ spec: { "$append/ports": 4 } }],
    [{ "$patch/list": [{ value: 1 }] }],
    [{ $drop: "a" }],
  ] as [JsonObject][])("refuses %j", (patch) => {
    expect(() => applyPatch(workload, patch)).toThrow(PatchError);
  });

  it("merges localOptions by location where that reading is chosen", () => {
    const patch = { spec: { localOptions: [{ location: "/org/o/location/l", suspend: true }] } };
    const merged = applyPatch(workload, patch, { mergeArrays: ["localOptions"] });
    expect(at(merged, "spec.localOptions.0")).toEqual({
      location: "/org/o/location/l",
      suspend: true,
      timeoutSeconds: 9,
    });
    expect(at(applyPatch(workload, patch), "spec.localOptions.0.timeoutSeconds")).toBeUndefined();
  });

  const key = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 2 });
  const document = fc.object({ key, maxDepth: 3, values: [fc.integer(), fc.boolean(), fc.string()] });
  const plainPatch = fc.object({ key, maxDepth: 3, values: [fc.integer(), fc.string(), fc.constant(null)] });

  it("is idempotent without operators that add", () => {
    fc.assert(
      fc.property(document, plainPatch, (before, patch) => {
        const once = applyPatch(before as JsonObject, patch as JsonObject);
        expect(sameJson(applyPatch(once, patch as JsonObject), once)).toBe(true);
      }),
    );
  });

  it("is the identity when empty, and replaces wholly with $replace/", () => {
    fc.assert(
      fc.property(document, document, (before, value) => {
        expect(applyPatch(before as JsonObject, {})).toEqual(before);
        const after = applyPatch(before as JsonObject, { "$replace/a": value as JsonObject });
        expect(after.a).toEqual(value);
      }),
    );
  });
});
