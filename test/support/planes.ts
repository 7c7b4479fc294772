import { setImmediate } from "node:timers/promises";
import { NativePlane } from "../../proxy-image/src/net/native-plane.ts";
import { choosePlane } from "../../proxy-image/src/net/planes.ts";
import { addonFile } from "../../tools/native.ts";

/**
 * Which plane the proxies of a test run on: the project `socket` takes the native one where it is built, and
 * `socket-js` runs the same tests on the other.
 */
export const testedPlane = process.env.TEST_PLANE === "js" ? "js" : "auto";

const HOUR_MS = 3_600_000;

/** One for all proxies of a test file, as each native plane is a thread. */
export const { plane } = choosePlane(testedPlane, addonFile, { stallMs: HOUR_MS, halfCloseMs: HOUR_MS });

/**
 * The plane's thread has its own pace: resolves when it has dealt with all that had happened to its sockets before, and
 * has nobody on the way to a target any more. At once on the other plane, which is the event loop itself.
 */
export async function planeSettled(): Promise<void> {
  if (!(plane instanceof NativePlane)) return;
  for (;;) {
    const over = plane.round();
    while (!over()) await setImmediate();
    if (plane.stats().approaching === 0) return;
  }
}
