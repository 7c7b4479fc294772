import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** One project a kind of claim: what a test may touch decides where it lives. */
const project = (
  name: string,
  options: { timeout: number; include?: string[]; env?: Record<string, string>; workers?: number },
) => ({
  resolve: { alias: { "@pulumiverse/cpln": fromRoot("./sdks/cpln/src/index.ts") } },
  test: {
    name,
    include: options.include ?? [`test/${name}/**/*.test.ts`],
    env: options.env ?? {},
    globalSetup: fromRoot("./test/support/bundle.ts"),
    testTimeout: options.timeout,
    hookTimeout: options.timeout,
    // Those with a number of their own run when all others are done.
    ...(options.workers === undefined ? {} : { maxWorkers: options.workers, sequence: { groupOrder: 1 } }),
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
    // The default leaves one core to vitest itself, which on two is half of the machine.
    maxWorkers: "100%",
    projects: [
      project("unit", { timeout: 60_000 }),
      project("component", { timeout: 30_000 }),
      project("contract", { timeout: 30_000 }),
      project("socket", { timeout: 60_000 }),
      ...otherPlane(),
      // Each waits for processes more than it computes: two fill two cores, and more would only be slower each.
      project("e2e", { timeout: 180_000, workers: 2 }),
    ],
  },
});
