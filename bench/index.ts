/**
 * `npm run bench`: measures this proxy on both planes beside HAProxy, nginx, no proxy at all, and the binary that
 * REFERENCE_PROXY names, and writes docs/performance.md after every part. Linux with two cores or more and a Rust
 * toolchain; the load has core 0, the subjects share core 1. Nothing here is part of the tests. With `--quick`, less of
 * everything, and nothing is written.
 */
import { Load } from "./load.ts";
import { Limit } from "./machine.ts";
import { type Measured, writeReport } from "./report.ts";
import { memory, openApi, survival } from "./room.ts";
import { median, speed } from "./speed.ts";
import { type Place, type Subject, subjects } from "./subjects.ts";
import { DOWN, emptyNode, startCpu, wakes } from "./wake.ts";

const MIB = 2 ** 20;
const quick = process.argv.includes("--quick");
const rounds = quick ? 1 : 5;

const say = (text: string) => console.error(`bench: ${text}`);

const measured: Measured = {
  pinned: new Map(),
  throttled: undefined,
  memory: new Map(),
  survival: new Map(),
  wakes: new Map(),
  starts: new Map(),
};

const load = await Load.build();
const api = await openApi();
try {
  const place: Place = { target: await load.serve(), api: api.url };
  const all = subjects(process.env.REFERENCE_PROXY);
  const extent = { rounds, bulkBytes: (quick ? 128 : 512) * MIB, pings: 4_000, connections: 2_000 };
  measured.pinned = await speed(load, place, all, extent);
  const parts = [room, starts, wakeOverheads, throttled];
  for (const part of parts) {
    await part(place, all);
    await writeReport(measured, { write: !quick });
  }
} finally {
  load.stop();
  await api.stop();
}

async function room(place: Place, all: readonly Subject[]): Promise<void> {
  for (const subject of all) {
    for (const kind of ["spliced", "held"] as const) {
      if (kind === "held" && !subject.holds) continue;
      for (const count of quick ? [1_000] : [1_000, 5_000]) {
        say(`memory, ${subject.name}, ${count} ${kind}`);
        const each = await memory(load, place, subject, count, kind).catch(() => Number.NaN);
        measured.memory.set(`${subject.name}|${kind}|${count}`, each);
      }
    }
    const counts = [
      ["spliced", 3_000],
      ["spliced", 5_000],
      ["spliced", 8_000],
      // Two descriptors each: what a limit of 20,000 has room for.
      ["spliced", 9_500],
      ["held", 5_000],
    ] as const;
    for (const [kind, count] of subject.holds ? counts : []) {
      // Six descriptors a session: it has no room for more.
      if (subject.name === "reference" && count > 5_000) continue;
      say(`128 MiB, ${subject.name}, ${count} ${kind}`);
      const survived = await survival(load, place, subject, count, kind).catch(() => undefined);
      measured.survival.set(`${subject.name}|${kind}|${count}`, survived);
    }
  }
}

async function wakeOverheads(place: Place, all: readonly Subject[]): Promise<void> {
  // What wakes is the same on both planes.
  for (const subject of all.filter(({ name, holds }) => holds && !name.includes("js"))) {
    for (const down of DOWN) {
      say(`wakes, ${subject.name}, ${down}`);
      measured.wakes.set(`${subject.name}|${down}`, await wakes(subject, place, down, quick ? 2 : 10));
    }
  }
}

async function starts(place: Place, all: readonly Subject[]): Promise<void> {
  const started = [...all.filter(({ holds }) => holds), emptyNode];
  const values = new Map<string, number[]>(started.map(({ name }) => [name, []]));
  // In turn, so that the machine's moods hit all alike.
  for (let turn = 0; turn < (quick ? 5 : 15); turn++)
    for (const subject of started) values.get(subject.name)?.push(await startCpu(subject, place));
  for (const [name, each] of values) measured.starts.set(name, median(each));
}

async function throttled(place: Place, all: readonly Subject[]): Promise<void> {
  const possible = await Limit.tenthOfCore();
  await possible?.remove();
  if (!possible) return;
  const extent = { rounds, bulkBytes: 16 * MIB, pings: 500, connections: 200 };
  measured.throttled = await speed(load, place, all, extent, async () => {
    const limit = await Limit.tenthOfCore();
    return limit ? [limit] : [];
  });
}
