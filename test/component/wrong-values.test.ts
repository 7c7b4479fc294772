/** Whatever stands where another kind of value belongs is refused as a wrong input, at its own place. */
import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { startMocks } from "../support/mocks.ts";

const port = { port: 22, target: 2022 };
const simple = { gvc: "prod", target: "sftp", ports: [port], allow: ["0.0.0.0/0"] };
const { target: _, ports: __, ...shared } = simple;

interface Schema {
  resources: Record<string, { inputProperties: object }>;
  types: Record<string, { properties: object }>;
}
const schema = JSON.parse(readFileSync(fromRoot("test", "golden", "schema.json"), "utf8")) as Schema;
const names = (type: string): string[] => {
  const token = `cpln-scale-to-zero:index:${type}`;
  return Object.keys(schema.resources[token]?.inputProperties ?? schema.types[token]?.properties ?? {});
};

/** Kinds that know an option; any other would refuse it for that. */
const kindWith: Record<string, string> = {
  pattern: "banner",
  user: "postgres",
  database: "postgres",
  method: "http",
  path: "http",
  host: "http",
  serverName: "tls",
  send: "custom",
  sendHex: "custom",
  expect: "custom",
  bytes: "replay",
};

/** Every argument at every place, and the arguments with this value there. */
const places: [string, (value: unknown) => object][] = [
  ...names("ScaleToZeroTcp").map((name): [string, (value: unknown) => object] => [
    name,
    (value) => ({ ...(name === "targets" ? shared : simple), [name]: value }),
  ]),
  ...names("PortArgs").map((name): [string, (value: unknown) => object] => [
    `ports[0].${name}`,
    (value) => ({ ...simple, ports: [{ ...port, [name]: value }] }),
  ]),
  ...names("TargetArgs").map((name): [string, (value: unknown) => object] => [
    `targets[0].${name}`,
    (value) => ({ ...shared, targets: [{ target: "sftp", ports: [port], [name]: value }] }),
  ]),
  ...names("ReadinessArgs").map((name): [string, (value: unknown) => object] => [
    `ports[0].readiness.${name}`,
    (value) => ({ ...simple, ports: [{ ...port, readiness: { kind: kindWith[name], [name]: value } }] }),
  ]),
];

it("there are arguments to try", () => {
  expect(places.length).toBeGreaterThan(60);
});

describe.each(places)("%s", (place, withValue) => {
  it.each<[string, unknown]>([
    ["a map of numbers", { a: 1 }],
    ["a list of maps", [{ a: 1 }]],
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
    ["a bigint", 10n],
  ])("is not %s", async (_, value) => {
    await startMocks();
    let refused: unknown;
    try {
      new ScaleToZeroTcp("sftp", withValue(value) as unknown as ScaleToZeroTcpArgs);
    } catch (error) {
      refused = error;
    }
    if (!pulumi.InputPropertiesError.isInstance(refused)) throw refused ?? new Error("it was accepted");
    const { errors, message } = refused as pulumi.InputPropertiesError;
    // A readiness is judged as a whole.
    const at = place.replace(/\.readiness\..*/, ".readiness");
    expect(errors.filter(({ propertyPath }) => !propertyPath.startsWith(at))).toEqual([]);
    expect(errors.length).toBeGreaterThan(0);
    expect(message).not.toMatch(/\[object|\[toString\]|undefined|NaN/);
  });
});
