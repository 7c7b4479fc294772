/** Real servers and real clients, through the real proxy process: cold, when nothing runs, and warm. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Front } from "../../support/servers/front.ts";
import { realServers } from "../../support/servers/index.ts";
import { missing, required } from "../../support/servers/server.ts";

const present = realServers.filter((server) => missing(server).length === 0);
let front: Front;

beforeAll(async () => {
  front = await Front.open(present);
});

afterAll(() => front?.close());

describe.each(realServers.map((server) => [server.server, server] as const))("%s", (_, server) => {
  const lacks = missing(server);

  it.skipIf(lacks.length > 0 && !required)(`is served to ${server.client}, cold and warm`, async () => {
    expect(lacks, `install ${server.packages.join(", ")}`).toEqual([]);
    expect(front.connections(server)).toEqual([]);
    await front.work(server);
    const events = front.lines(server).map(({ event }) => event);
    expect(events.filter((event) => event === "wake")).toHaveLength(1);
    expect(events).toContain("ready");
    const before = front.connections(server).length;
    await front.work(server);
    // Warm: the clients' own connections, and no probe.
    const own = front.connections(server).slice(before);
    expect(own.map(({ outcome }) => outcome)).toEqual(Array(server.connections).fill("relayed"));
    expect(front.lines(server).filter(({ event }) => event === "wake")).toHaveLength(1);
    expect(front.lines(server).filter(({ level }) => level === "error")).toEqual([]);
  });
});
