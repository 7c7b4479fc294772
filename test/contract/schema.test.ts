/**
 * What other Pulumi languages get is inferred from the component's source by the SDK's own analyzer. The result is a
 * promise, kept as a golden file: `npx vitest run --project contract test/contract/schema -u` writes it again.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Analyzer } from "@pulumi/pulumi/provider/experimental/analyzer.js";
import { generateSchema } from "@pulumi/pulumi/provider/experimental/schema.js";
import { beforeAll, describe, expect, it } from "vitest";
import { allSettings } from "../../src/contract/catalogue.ts";
import { version } from "../../src/version.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const NAME = "cpln-scale-to-zero";

type Property = { type?: string; $ref?: string; description?: string };
type Resource = {
  inputProperties: Record<string, Property>;
  requiredInputs: string[];
  properties: Record<string, Property>;
};

let schema: {
  resources: Record<string, Resource>;
  types: Record<string, { properties?: Record<string, Property>; enum?: unknown[] }>;
};
let resource: Resource;

beforeAll(() => {
  // The analyzer starts where the package does; here that is its source.
  const manifest = { ...JSON.parse(readFileSync(`${root}package.json`, "utf8")), main: "src/index.ts" };
  delete manifest.exports;
  const analyzed = new Analyzer(root, NAME, manifest, new Set(["ScaleToZeroTcp"])).analyze();
  const { components, typeDefinitions, dependencies } = analyzed;
  schema = JSON.parse(
    JSON.stringify(
      generateSchema(NAME, version, manifest.description, components, typeDefinitions, dependencies),
    ),
  );
  resource = schema.resources[`${NAME}:index:ScaleToZeroTcp`] as Resource;
}, 120_000);

describe("the schema", () => {
  it("is the golden one", async () => {
    await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot("../golden/schema.json");
  });

  it("needs what a program must give", () => {
    expect(resource.requiredInputs).toEqual(["gvc"]);
  });

  it("gives outputs that are strings, and nothing that leaked", () => {
    const types = Object.entries(resource.properties).map(([name, { type }]) => [name, type]);
    expect(Object.fromEntries(types)).toEqual({
      workloadLink: "string",
      identityLink: "string",
      policyLink: "string",
      host: "string",
      ports: "string",
    });
  });

  it("explains every argument and output, and knows no `Any`", () => {
    const nested = Object.values(schema.types).flatMap(({ properties }) => Object.entries(properties ?? {}));
    for (const [name, { description, $ref }] of [
      ...Object.entries(resource.inputProperties),
      ...Object.entries(resource.properties),
      ...nested,
    ]) {
      expect(description?.length ?? 0, name).toBeGreaterThan(20);
      expect($ref, name).not.toBe("pulumi.json#/Any");
    }
  });

  it("has an argument for every setting that one sets", () => {
    const named = allSettings().flatMap(({ argument }) => (argument === undefined ? [] : [argument]));
    expect(named.filter((argument) => !(argument in resource.inputProperties))).toEqual([]);
  });
});
