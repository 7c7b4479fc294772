import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** One project a kind of claim: what a test may touch decides where it lives. */
const project = (name: string, options: { timeout: number; serial?: boolean }) => ({
  resolve: { alias: { "@pulumiverse/cpln": fromRoot("./sdks/cpln/src/index.ts") } },
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: options.timeout,
    hookTimeout: options.timeout,
    fileParallelism: !options.serial,
  },
});

export default defineConfig({
  test: {
    projects: [
      project("unit", { timeout: 60_000 }),
      project("component", { timeout: 30_000 }),
      project("contract", { timeout: 30_000 }),
      project("socket", { timeout: 60_000 }),
      project("e2e", { timeout: 180_000, serial: true }),
    ],
  },
});
