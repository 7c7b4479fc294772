import fc from "fast-check";
import { expect, test } from "vitest";
import { stories } from "../../support/core-stories.ts";
import { type Story, tell } from "../../support/core-world.ts";

/** The same stories in every `npm test`, so that it says of a change what it said before; `npm run soak` tells new ones. */
const soaking = process.env.CORE_RUNS !== undefined || process.env.CORE_MINUTES !== undefined;
const seed = Number(process.env.CORE_SEED ?? (soaking ? Date.now() % 2 ** 31 : 7919));
const runs = Number(process.env.CORE_RUNS ?? 10_000);
/** Set by `npm run soak`: as many stories as fit into this time. */
const minutes = process.env.CORE_MINUTES === undefined ? undefined : Number(process.env.CORE_MINUTES);

test(`no order of events breaks a law of the lifecycle`, { timeout: 24 * 60 * 60_000 }, () => {
  console.info(`core: seed ${seed} (CORE_SEED=${seed} tells the same stories again)`);
  const parameters: fc.Parameters<[Story]> = {
    seed,
    numRuns: minutes === undefined ? runs : Number.MAX_SAFE_INTEGER,
    // The limit is on shrinking, too; too few stories in it count as a failure unless the time was the task.
    interruptAfterTimeLimit: (minutes ?? (runs > 10_000 ? 24 * 60 : 4)) * 60_000,
    markInterruptAsFailure: minutes === undefined,
    reporter: report,
  };
  fc.assert(
    fc.property(stories, (story) => {
      tell(story);
    }),
    parameters,
  );
});

function report(details: fc.RunDetails<[Story]>): void {
  if (!details.failed) {
    expect(details.numRuns).toBeGreaterThan(0);
    return;
  }
  const [story] = details.counterexample ?? [];
  if (!story) throw new Error(fc.defaultReportMessage(details));
  const lines: string[] = [];
  let law = String(details.errorInstance);
  try {
    tell(story, (line) => lines.push(line));
  } catch (error) {
    law = error instanceof Error ? `${error.message}` : String(error);
    if (!(error instanceof Error && error.constructor.name === "LawBroken"))
      law = String((error as Error).stack);
  }
  const again = `CORE_SEED=${details.seed} after ${details.numRuns} stories and ${details.numShrinks} shrinks`;
  throw new Error(`${law}\n${again}\n${JSON.stringify(story)}\n${lines.slice(-120).join("\n")}`);
}
