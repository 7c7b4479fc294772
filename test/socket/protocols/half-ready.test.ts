/** Servers that are there and do not serve yet: their clients wait, and are served once they do. */
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { Front, type FrontOptions } from "../../support/servers/front.ts";
import { postgres } from "../../support/servers/postgres.ts";
import { redis } from "../../support/servers/redis.ts";
import { missing, type RealServer, required, run } from "../../support/servers/server.ts";

let front: Front | undefined;
afterEach(() => front?.close());

const open = async (server: RealServer, options?: FrontOptions): Promise<Front> => {
  expect(missing(server), `install ${server.packages.join(", ")}`).toEqual([]);
  front = await Front.open([server], options);
  return front;
};
const answered = (seen: Front, server: RealServer): boolean =>
  seen.connections(server).some(({ bytesOut }) => bytesOut > 0);
const without = (server: RealServer) => missing(server).length > 0 && !required;

describe("a Redis that still reads its files", () => {
  it.skipIf(without(redis))("keeps its clients waiting while it says LOADING", async () => {
    const seen = await open(redis, { env: { redis: { LOADING: "2000" } } });
    await seen.work(redis);
    const logs = seen.simulator.platform.logs(seen.of(redis).key).map(({ text }) => text);
    expect(logs.some((text) => text.includes("DB loaded"))).toBe(true);
    const told = seen.connections(redis).filter(({ bytesOut }) => bytesOut > 0);
    // Probes that were told LOADING, then one that was answered, then the clients' own two.
    expect(told.length).toBeGreaterThan(3);
  });
});

describe("a PostgreSQL standby that takes nobody", () => {
  it.skipIf(without(postgres))("is not ready, and its log holds nothing of the probes", async () => {
    const seen = await open(postgres, {
      env: { postgres: { STANDBY: "1", PGEXTRA: "hot_standby=off" } },
      settings: { MAX_HOLD: "3s" },
    });
    const { listens } = seen.of(postgres);
    const asked = run("psql", [
      "-h",
      "127.0.0.1",
      "-p",
      String(listens[0]),
      "-U",
      "postgres",
      "-c",
      "select 1",
    ]);
    await expect(asked).rejects.toThrow(/server closed the connection|terminated/);
    await eventually(() => answered(seen, postgres));
    expect(seen.lines(postgres).map(({ event }) => event)).not.toContain("ready");
    const logs = seen.simulator.platform.logs(seen.of(postgres).key).map(({ text }) => text);
    expect(logs.filter((text) => text.includes("incomplete startup packet"))).toEqual([]);
    expect(logs.filter((text) => text.includes("hot_standby") || text.includes("standby mode"))).not.toEqual(
      [],
    );
  });
});
