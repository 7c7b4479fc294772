/** What a reader copies from the docs does not only compile: each program is run, up to what it registers. */
import { expect, it } from "vitest";
import { allBlocks } from "../support/doc-blocks.ts";
import { runProgram } from "../support/doc-programs.ts";
import { startMocks } from "../support/mocks.ts";

it.each(allBlocks("ts").map((block) => [`${block.page}:${block.line}`, block] as const))(
  "%s runs",
  async (_, { code }) => {
    const registered = await startMocks();
    runProgram(code);
    const components = code.match(/new ScaleToZeroTcp\(/g)?.length ?? 0;
    const others = code.match(/new cpln\.\w+\(/g)?.length ?? 0;
    expect(components + others).toBeGreaterThan(0);
    // A component and its three children. Registering goes on after the constructors have returned.
    while (registered.length < components * 4 + others) await new Promise((resolve) => setImmediate(resolve));
  },
);
