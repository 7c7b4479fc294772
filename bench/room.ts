import { setTimeout } from "node:timers/promises";
import { json, StubApi, workloadDocument } from "../test/support/stub-api.ts";
import { deadPort } from "../test/support/target.ts";
import { fromRoot } from "../tools/lib/root.ts";
import { capture } from "../tools/lib/run.ts";
import type { Load } from "./load.ts";
import { anonymousKiB, Limit } from "./machine.ts";
import { type Place, Running, type Subject } from "./subjects.ts";

const MIB = 2 ** 20;

/** Anonymous KiB per connection, spliced or held. */
export async function memory(
  load: Load,
  place: Place,
  subject: Subject,
  count: number,
  kind: "spliced" | "held",
): Promise<number> {
  const target = kind === "held" ? await deadPort() : place.target;
  const running = await Running.start(subject, { ...place, target });
  try {
    const before = await anonymousKiB(await running.pids());
    const held = await load.hold(running.address, count, kind === "held" ? "mute" : "banner");
    await setTimeout(1_500);
    const each = ((await anonymousKiB(await running.pids())) - before) / count;
    held.end();
    return held.open === count ? each : Number.NaN;
  } finally {
    await running.stop();
  }
}

export interface Survival {
  survived: boolean;
  open: number;
  peakMiB: number;
  bulkSeconds: number;
}

/** In 128 MiB with the kernel's share of it, without privileges. Undefined where no such limit can be made. */
export async function survival(
  load: Load,
  place: Place,
  subject: Subject,
  count: number,
  kind: "spliced" | "held",
): Promise<Survival | undefined> {
  const limit = await Limit.memory(128 * MIB);
  if (!limit) return undefined;
  const target = kind === "held" ? await deadPort() : place.target;
  const running = await Running.start(subject, { ...place, target }, { limits: [limit], unprivileged: true });
  try {
    const held = await load.hold(running.address, count, kind === "held" ? "mute" : "banner");
    let bulkSeconds = Number.NaN;
    if (kind === "spliced" && running.alive)
      [bulkSeconds = Number.NaN] = await load.run("bulk", running.address, "down", 256 * MIB).catch(() => []);
    if (subject.name.startsWith("proxy")) await hookBeside(running, limit);
    await setTimeout(500);
    held.end();
    const survived = running.alive && held.open === count && (kind === "held" || !Number.isNaN(bulkSeconds));
    return { survived, open: held.open, peakMiB: await limit.peakMiB(), bulkSeconds };
  } finally {
    await running.stop();
    await limit.remove();
  }
}

/** The preStop hook starts in the same limit; it would wait for the drain, so it is ended once it has asked. */
async function hookBeside(running: Running, limit: Limit): Promise<void> {
  const script = `echo $$ > ${limit.entry}; exec timeout 2 "$@"`;
  const hook = [process.execPath, fromRoot("proxy-image", "dist", "main.js"), "prestop"];
  await capture("/bin/sh", ["-c", script, "sh", ...hook], {
    env: { ...process.env, HEALTH_PORT: `${running.listen + 1}` },
  });
}

/** An API that says yes to everything. */
export const openApi = (): Promise<StubApi> => StubApi.start(json(200, workloadDocument()));
