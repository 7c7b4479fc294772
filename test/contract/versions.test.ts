import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { defaultImage, version } from "../../src/index.ts";

const manifest = (path: string): { version: string } =>
  JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));

it.each(["package.json", "proxy-image/package.json"])("%s has the version that the code says", (path) => {
  expect(manifest(path).version).toBe(version);
});

it("the component deploys the proxy of its own version", () => {
  expect(defaultImage).toBe(`ghcr.io/controlplane-com/scale-to-zero-proxy:${version}`);
});
