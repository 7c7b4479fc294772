import { setImmediate } from "node:timers/promises";
import { planeSettled } from "./planes.ts";

/**
 * Resolves in the turn of the event loop in which the condition holds: for what no event tells. The test's own time
 * limit ends it.
 */
export async function eventually(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate();
}

/** Lets everything that is already under way in this process come through. */
export async function settled(turns = 50): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await setImmediate();
    if (turn % 10 === 0) await planeSettled();
  }
}
