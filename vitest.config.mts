import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** One project a kind of claim: what a test may touch decides where it lives. */
const project = (
  name: string,
  options: { timeout: number; serial?: boolean; include?: string[]; env?: Record<string, string> },
) => ({
  resolve: { alias: { "@pulumiverse/cpln": fromRoot("./sdks/cpln/src/index.ts") } },
  test: {
    name,
    include: options.include ?? [`test/${name}/**/*.test.ts`],
    env: options.env ?? {},
    globalSetup: fromRoot("./test/support/bundle.ts"),
    testTimeout: options.timeout,
    hookTimeout: options.timeout,
    fileParallelism: !options.serial,
  },
});

/** The proxy's own socket tests once more on its other plane; without the native one they have run on it already. */
const otherPlane = () =>
  existsSync(fromRoot("./proxy-image/dist/splice.node"))
    ? [
        project("socket-js", {
          timeout: 60_000,
          include: ["test/socket/{proxy,lifecycle}/**/*.test.ts"],
          env: { TEST_PLANE: "js" },
        }),
      ]
    : [];

export default defineConfig({
  test: {
    projects: [
      project("unit", { timeout: 60_000 }),
      project("component", { timeout: 30_000 }),
      project("contract", { timeout: 30_000 }),
      project("socket", { timeout: 60_000 }),
      ...otherPlane(),
      project("e2e", { timeout: 180_000, serial: true }),
    ],
  },
});
