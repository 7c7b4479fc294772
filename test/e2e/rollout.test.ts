/** A proxy that `pulumi up` replaces while somebody uses it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectPeer } from "../support/client.ts";
import { Place } from "./support/place.ts";
import { type EchoSession, openEchoSession } from "./support/ssh.ts";

let place: Place;

beforeAll(async () => {
  place = await Place.open({ idleHold: "1s", graceSeconds: 30 });
  await place.stack.up();
  await place.ready();
});

afterAll(() => place?.dispose());

/** Connections through the load balancer, by the replica of the proxy that took them. */
const taken = () =>
  place.simulator.platform.connections(place.proxy, { via: "load-balancer", outcome: "relayed" });

describe("a rollout of the proxy under real SSH sessions", () => {
  let short: EchoSession;
  let long: EchoSession;
  let old: string;

  it("ends neither the sessions nor their target, and new clients get the new proxy", async () => {
    const endpoint = await place.endpoint();
    short = await openEchoSession(place.session.dir, endpoint);
    long = await openEchoSession(place.session.dir, endpoint);
    for (const session of [short, long]) expect(await session.echo("before\n")).toBe("before\n");
    old = (await place.ready()).name;

    await place.stack.setConfig("idleHold", { value: "2s" });
    const { summary } = await place.stack.up();
    expect(summary.resourceChanges).toMatchObject({ update: 1 });
    await place.logged("draining", { replica: old });
    const { replicas } = await place.simulator.platform.when(place.proxy, ({ replicas }) =>
      replicas.some(({ name, ready }) => ready && name !== old),
    );
    const next = replicas.find(({ name, ready }) => ready && name !== old)?.name;
    for (const session of [short, long]) expect(await session.echo("during\n")).toBe("during\n");

    // Until the load balancer has heard of it the old one is given clients, and serves them.
    await place.logged("listeners_closed", { replica: old });
    const client = await connectPeer(endpoint.port, { host: endpoint.host });
    client.write("SSH-2.0-next\r\n");
    expect(await client.text(4)).toBe("SSH-");
    expect(taken().at(-1)?.replica).toBe(next);
    client.end();
    for (const session of [short, long]) expect(await session.echo("after\n")).toBe("after\n");
    expect(place.accepted).toEqual(["wake"]);
  });

  it("goes on until the last session is over or the drain's time is, whichever comes first", async () => {
    await short.end();
    expect(await long.echo("alone\n")).toBe("alone\n");
    const drained = await place.logged("drained", { replica: old });
    expect(drained).toMatchObject({ cut: 1 });
    // A grace of 30 s leaves 15 s for them.
    expect(Number(drained.tookMs)).toBeGreaterThanOrEqual(14_900);
    await long.over;
    await place.simulator.platform.when(place.proxy, ({ replicas }) =>
      replicas.every(({ name }) => name !== old),
    );
    expect(place.accepted).toEqual(["wake"]);
  });
});
