import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Peer } from "../../support/client.ts";
import { eventually, settled } from "../../support/eventually.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { LISTEN, proxySettings, type RunningProxy, startProxy, targetSettings } from "../../support/proxy.ts";
import { echoing, TestTarget } from "../../support/target.ts";

const BANNER = "SSH-2.0-there\r\n";
const IDLE_MS = 300_000;

let target: TestTarget;
let proxy: RunningProxy;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  target = await TestTarget.start(echoing(BANNER));
  const mapping = {
    listen: LISTEN,
    target: target.port,
    readiness: { kind: "ssh" },
    wakeOn: "fitting",
  } as const;
  const settings = targetSettings(target.port, { ports: [mapping], idleHoldMs: IDLE_MS });
  proxy = await startProxy({ settings: proxySettings([settings]), clock });
});

afterEach(async () => {
  proxy.server.stop();
  await target.stop();
});

/** A client that says this first, if anything, and has heard the target. */
async function session(first: string): Promise<Peer> {
  const client = await proxy.connect();
  if (first !== "") client.write(first);
  // Whoever says nothing is looked at a second time, where he is held at all.
  await settled();
  clock.advance(1_000);
  expect(await client.text(BANNER.length)).toBe(BANNER);
  return client;
}

async function leave(client: Peer): Promise<void> {
  client.end();
  await eventually(() => proxy.active() === 0);
  await settled();
}

/** Lets time run until something is written. */
async function untilSuspended(): Promise<number> {
  const from = clock.now();
  while (proxy.api.writes.length === 0) {
    clock.advance(2_000);
    await settled(10);
  }
  return clock.now() - from;
}

describe("at an awake target whose clients speak at once", () => {
  it("one that speaks as they do begins the idle-hold anew when it goes", async () => {
    await leave(await session("SSH-2.0-me\r\n"));
    clock.advance(IDLE_MS / 2);
    await leave(await session("SSH-2.0-me\r\n"));
    expect(await untilSuspended()).toBeGreaterThan(IDLE_MS - 5_000);
  });

  it.each([
    ["says nothing", ""],
    ["speaks otherwise", "GET / HTTP/1.1\r\n\r\n"],
  ])("one that %s is served, and its going begins nothing", async (_, first) => {
    await leave(await session("SSH-2.0-me\r\n"));
    clock.advance(IDLE_MS / 2);
    await leave(await session(first));
    const more = await untilSuspended();
    expect(more).toBeLessThan(IDLE_MS / 2 + 5_000);
  });

  it("one that says nothing keeps the target awake while it is there", async () => {
    await leave(await session("SSH-2.0-me\r\n"));
    const quiet = await session("");
    for (let passed = 0; passed < 2 * IDLE_MS; passed += 10_000) {
      clock.advance(10_000);
      await settled(5);
    }
    expect(proxy.api.writes).toEqual([]);
    await leave(quiet);
    expect(await untilSuspended()).toBeLessThan(5_000);
  });
});
