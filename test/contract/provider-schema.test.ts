import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { ObjectSchema, PackageSchema, Property } from "../../simulator/provider/mapping/schema.ts";
import { schema } from "../../simulator/provider/registry.ts";
import { sdkFiles } from "../../simulator/provider/sdk/generate.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const published = at("../../../shared/data/cpln-provider-schema.json");

/** The published data holds names and types only, so a property that is itself called `description` is lost in it. */
const lost = ["description"];
/** In the public package, though not in the data. */
const unpublished = ["cpln:index/getLocation:getLocation", "cpln:index/getLocationGeo:getLocationGeo"];
/** Arguments that the public functions take and nobody gives: only what selects the resource is in the subset. */
const keys = ["name", "gvc"];

type Published = Omit<PackageSchema, "provider" | "meta">;

const typeText = (property: Property): string => {
  const secret = property.secret ? " secret" : "";
  if (property.$ref !== undefined) return property.$ref;
  if (property.items !== undefined) return `${typeText(property.items)}[]${secret}`;
  if (property.additionalProperties !== undefined)
    return `map of ${typeText(property.additionalProperties)}${secret}`;
  return `${property.type}${secret}`;
};

function compareObjects(place: string, ours: ObjectSchema, theirs: ObjectSchema | undefined): string[] {
  if (theirs === undefined) return [`${place}: not in the public package`];
  return [
    ...compareProperties(place, ours.properties, theirs.properties),
    ...compareRequired(place, ours, ours.required, theirs.required ?? []),
  ];
}

function compareProperties(place: string, ours: Record<string, Property>, theirs: Record<string, Property>) {
  return Object.entries(ours).flatMap(([name, property]) => {
    if (lost.includes(name)) return [];
    const other = theirs[name];
    if (other === undefined) return [`${place}.${name}: not in the public package`];
    const [mine, yours] = [typeText(property), typeText(other)];
    return mine === yours ? [] : [`${place}.${name}: ${mine}, in the public package ${yours}`];
  });
}

/** What both know must agree on being required; what they require and we leave out would be a property of ours. */
function compareRequired(place: string, ours: ObjectSchema, mine: string[], yours: string[]) {
  const known = (name: string) => name in ours.properties;
  return [
    ...mine.filter((name) => !yours.includes(name)).map((name) => `${place}.${name}: required only here`),
    ...yours
      .filter((name) => known(name) && !mine.includes(name))
      .map((name) => `${place}.${name}: required in the public package`),
  ];
}

function differences(ours: PackageSchema, theirs: Published): string[] {
  const resources = Object.entries(ours.resources).flatMap(([token, mine]) => {
    const yours = theirs.resources[token];
    if (yours === undefined) return [`${token}: not in the public package`];
    const needed = yours.requiredInputs ?? [];
    return [
      ...compareObjects(token, mine, yours),
      ...compareProperties(`${token} input`, mine.inputProperties, yours.inputProperties),
      ...compareRequired(`${token} input`, mine, mine.requiredInputs, needed),
      ...needed
        .filter((name) => !(name in mine.inputProperties))
        .map((name) => `${token} input.${name}: left out`),
    ];
  });
  const functions = Object.entries(ours.functions).flatMap(([token, mine]) => {
    if (unpublished.includes(token)) return [];
    const yours = theirs.functions[token];
    if (yours === undefined) return [`${token}: not in the public package`];
    const unkeyed = Object.keys(mine.inputs.properties).filter((name) => !keys.includes(name));
    return [
      ...unkeyed.map((name) => `${token} argument ${name}: selects nothing`),
      ...compareObjects(`${token} arguments`, mine.inputs, yours.inputs),
      ...compareObjects(`${token} result`, mine.outputs, yours.outputs),
    ];
  });
  const types = Object.entries(ours.types)
    .filter(([token]) => !unpublished.includes(token))
    .flatMap(([token, mine]) => {
      const yours = theirs.types[token];
      const needed = (yours?.required ?? []).filter((name) => !(name in mine.properties));
      const isInput = !token.startsWith("cpln:index/get");
      return [
        ...compareObjects(token, mine, yours),
        ...(isInput ? needed.map((name) => `${token}.${name}: left out though required`) : []),
      ];
    });
  const settings = compareProperties("provider", ours.config.variables, theirs.config.variables);
  return [...resources, ...functions, ...types, ...settings];
}

const changed = (change: (copy: PackageSchema) => void): PackageSchema => {
  const copy = structuredClone(schema());
  change(copy);
  return copy;
};
const typeOf = (copy: PackageSchema, name: string) =>
  copy.types[`cpln:index/${name}:${name}`] as ObjectSchema;

const toCompare = existsSync(published) ? describe : () => {};

toCompare("the public provider's schema", () => {
  const theirs = existsSync(published)
    ? (JSON.parse(readFileSync(published, "utf8")) as Published)
    : schema();

  it("has every token, property, type and requirement of the subset", () => {
    expect(differences(schema(), theirs)).toEqual([]);
  });

  it.each<[string, (copy: PackageSchema) => void, RegExp]>([
    [
      "a token",
      (copy) => {
        copy.resources["cpln:index/target:Target"] = copy.resources["cpln:index/gvc:Gvc"] as never;
      },
      /^cpln:index\/target:Target: not in/,
    ],
    [
      "a function's token",
      (copy) => {
        copy.functions["cpln:index/getX:getX"] = copy.functions["cpln:index/getGvc:getGvc"] as never;
      },
      /^cpln:index\/getX:getX: not in/,
    ],
    [
      "a nested type's name",
      (copy) => {
        copy.types["cpln:index/WorkloadOption:WorkloadOption"] = typeOf(copy, "WorkloadOptions");
      },
      /WorkloadOption: not in/,
    ],
    [
      "a property's name",
      (copy) => {
        typeOf(copy, "WorkloadOptions").properties.suspended = { type: "boolean" };
      },
      /WorkloadOptions\.suspended: not in/,
    ],
    [
      "a property's type",
      (copy) => {
        typeOf(copy, "WorkloadOptions").properties.suspend = { type: "string" };
      },
      /WorkloadOptions\.suspend: string, in the public package boolean/,
    ],
    [
      "a list for an object",
      (copy) => {
        const properties = copy.resources["cpln:index/workload:Workload"]?.inputProperties;
        if (properties) properties.options = { type: "array", items: properties.options ?? {} };
      },
      /Workload input\.options: .*\[\], in/,
    ],
    [
      "a secret shown",
      (copy) => {
        typeOf(copy, "SecretOpaque").properties.payload = { type: "string" };
      },
      /SecretOpaque\.payload: string, in the public package string secret/,
    ],
    [
      "a requirement dropped",
      (copy) => {
        copy.resources["cpln:index/workload:Workload"]?.requiredInputs.pop();
      },
      /Workload input\.type: required in the public package/,
    ],
    [
      "a requirement invented",
      (copy) => {
        typeOf(copy, "WorkloadContainer").required.push("image");
      },
      /WorkloadContainer\.image: required only here/,
    ],
  ])("tells %s apart", (_, change, expected) => {
    const found = differences(changed(change), theirs);
    expect(found).not.toEqual([]);
    expect(found.every((difference) => expected.test(difference) || difference.includes("Target"))).toBe(
      true,
    );
  });
});

describe("the SDK in the workspace", () => {
  /** Generation writes lines of any length; the formatter breaks them. */
  const unformatted = (text: string) =>
    text
      .replace(/\s/g, "")
      .replace(/,(?=[)\]}])/g, "")
      .replace(/;$/, "");
  const sorted = (text: string) =>
    unformatted(text)
      .split(/(?<=;)/)
      .sort()
      .join("\n");

  it.each(Object.entries(sdkFiles(schema())))("%s is what the tables say", (name, text) => {
    const written = readFileSync(at(`../../sdks/cpln/src/${name}`), "utf8");
    const same = name === "index.ts" ? sorted : unformatted;
    expect(same(written)).toBe(same(text));
  });
});
