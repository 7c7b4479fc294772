import { setTimeout } from "node:timers/promises";
import type { Load } from "./load.ts";
import { cpuSeconds, type Limit } from "./machine.ts";
import { type Place, Running, type Subject } from "./subjects.ts";

/** Figures of one subject by the row's key. */
export type Figures = Record<string, number>;

export interface Extent {
  rounds: number;
  bulkBytes: number;
  pings: number;
  connections: number;
}

const GIB = 2 ** 30;
const AT_ONCE = 16;

export const DIRECT = "direct";

/** Every round measures every subject; all of them run all the time. Medians of the rounds. */
export async function speed(
  load: Load,
  place: Place,
  subjects: readonly Subject[],
  extent: Extent,
  limitOf: (subject: Subject) => Promise<readonly Limit[]> = async () => [],
): Promise<Map<string, Figures>> {
  const running = new Map<string, Running>();
  const limits: Limit[] = [];
  const rounds = new Map<string, Figures[]>();
  try {
    for (const subject of subjects) {
      const own = await limitOf(subject);
      limits.push(...own);
      running.set(subject.name, await Running.start(subject, place, { core: 1, limits: own }));
    }
    for (let round = 0; round < extent.rounds; round++) {
      for (const name of [DIRECT, ...running.keys()]) {
        console.error(`bench: round ${round + 1}, ${name}`);
        const figures = await once(load, `127.0.0.1:${place.target}`, running.get(name), extent);
        rounds.set(name, [...(rounds.get(name) ?? []), figures]);
      }
    }
  } finally {
    for (const each of running.values()) await each.stop();
    for (const limit of limits) await limit.remove();
  }
  return new Map([...rounds].map(([name, all]) => [name, medians(all)]));
}

async function once(
  load: Load,
  direct: string,
  subject: Running | undefined,
  extent: Extent,
): Promise<Figures> {
  const address = subject?.address ?? direct;
  const pids = (await subject?.pids()) ?? [];
  const cpu = () => cpuSeconds(pids);
  const gib = extent.bulkBytes / GIB;
  const figures: Figures = {};
  for (const way of ["down", "up"]) {
    const before = await cpu();
    const [seconds = Number.NaN] = await load.run("bulk", address, way, extent.bulkBytes);
    await setTimeout(50);
    figures[`${way} GiB/s`] = gib / seconds;
    figures[`${way} CPU-s/GiB`] = ((await cpu()) - before) / gib;
  }
  const [p50 = Number.NaN, p99 = Number.NaN] = await load.run("ping", address, extent.pings);
  Object.assign(figures, { "ping p50 µs": p50, "ping p99 µs": p99 });

  const [accepted = 0] = await load.run("count", direct);
  const before = await cpu();
  const [seconds = Number.NaN, failed = 0, connP50 = 0, connP99 = 0] = await load.run(
    "rate",
    address,
    extent.connections,
    AT_ONCE,
  );
  await setTimeout(100);
  const [acceptedThen = 0] = await load.run("count", direct);
  Object.assign(figures, {
    "conn/s": (extent.connections - failed) / seconds,
    "conn p50 ms": connP50 / 1e3,
    "conn p99 ms": connP99 / 1e3,
    "CPU-ms/conn": (((await cpu()) - before) / extent.connections) * 1e3,
    "target conns/client": (acceptedThen - accepted - 1) / extent.connections,
  });

  // A stream that is surely longer than the pings beside it.
  const stream = load.run("bulk", address, "down", extent.bulkBytes * 2);
  await setTimeout(100);
  const beside = load.run("ping", address, Math.ceil(extent.pings / 20));
  const [besideP50 = Number.NaN, besideP99 = Number.NaN] = await beside;
  await stream;
  Object.assign(figures, { "ping beside bulk p50 µs": besideP50, "ping beside bulk p99 µs": besideP99 });
  return figures;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function medians(all: readonly Figures[]): Figures {
  const keys = Object.keys(all[0] ?? {});
  return Object.fromEntries(keys.map((key) => [key, median(all.map((each) => each[key] ?? Number.NaN))]));
}
