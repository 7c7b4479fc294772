import { once } from "node:events";
import type net from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { functionImage } from "../../../simulator/src/images/index.ts";
import type { JsonObject, ResourceKey } from "../../../simulator/src/model.ts";
import {
  createWorld,
  echoSpec,
  ending,
  firstBytes,
  org,
  resource,
  type World,
  workloadKey,
} from "./world.ts";

let world: World;
afterEach(() => world.dispose());

const suspended = { defaultOptions: { suspend: true } };

/** A target that is up, and the address of somebody in its GVC. */
async function targetAndCaller(more: JsonObject = {}): Promise<{ key: ResourceKey; caller: string }> {
  const key = world.write("target", echoSpec(more));
  await world.platform.when(key, (seen) => seen.ready > 0);
  return { key, caller: world.platform.impersonate(workloadKey("proxy")).address };
}

describe("the mesh towards a workload without a ready replica", () => {
  test.each([
    ["silent", { mute: true, reset: false, ended: false }],
    ["close", { mute: false, reset: false, ended: true }],
    ["reset", { mute: false, reset: true, ended: false }],
  ] as const)("%s: accepts first", async (suspendedMesh, expected) => {
    world = await createWorld({ switches: { suspendedMesh } });
    const key = world.write("target", echoSpec(suspended));
    await world.platform.settled();
    const socket = world.dial(key, 2022, world.platform.impersonate(key).address);
    const end = ending(socket);
    await once(socket, "connect");
    if (expected.mute) {
      await world.platform.when(
        key,
        (seen) => seen.connections({ outcome: "mute", open: true }).length === 1,
      );
      socket.destroy();
    }
    const { reset, ended } = await end;
    expect({ reset, ended }).toEqual({ reset: expected.reset, ended: expected.ended });
  });

  test("refuse: nobody listens until it is ready, and again once it is not", async () => {
    world = await createWorld({ switches: { suspendedMesh: "refuse" }, graceMs: 0 });
    const key = world.write("target", echoSpec(suspended));
    const caller = world.platform.impersonate(key).address;
    const refused = async () => {
      const [error] = (await once(world.dial(key, 2022, caller), "error").catch((e) => [e])) as [
        NodeJS.ErrnoException,
      ];
      return error.code;
    };
    await world.platform.settled();
    expect(await refused()).toBe("ECONNREFUSED");
    world.suspend(key, false);
    await world.platform.when(key, (seen) => seen.ready === 1);
    await firstBytes(world.dial(key, 2022, caller));
    world.suspend(key, true);
    await world.platform.when(key, (seen) => seen.replicas.length === 0);
    expect(await refused()).toBe("ECONNREFUSED");
  });

  test("one workload may behave unlike the others", async () => {
    world = await createWorld();
    const key = world.write("target", echoSpec(suspended));
    world.platform.setMute(key, "close");
    await world.platform.settled();
    const socket = world.dial(key, 2022, world.platform.impersonate(key).address);
    expect(await ending(socket)).toMatchObject({ ended: true });
  });

  test("answers 503 on a port declared as HTTP", async () => {
    world = await createWorld();
    const containers = [{ name: "main", image: "echo", ports: [{ number: 8080, protocol: "http" }] }];
    const key = world.write("target", echoSpec({ containers, ...suspended }));
    await world.platform.settled();
    const socket = world.dial(key, 8080, world.platform.impersonate(key).address);
    socket.write("GET / HTTP/1.1\r\nhost: target\r\n\r\n");
    expect(await firstBytes(socket)).toContain("503 Service Unavailable");
  });

  test("a draining replica takes nothing new where the switch says so", async () => {
    world = await createWorld({ paused: true, switches: { draining: "withdrawn" } });
    const { key, caller } = await targetAndCaller();
    world.suspend(key, true);
    world.dial(key, 2022, caller);
    const seen = await world.platform.when(key, (now) => now.connections().length === 1);
    expect(seen.connections()).toMatchObject([{ outcome: "mute" }]);
    expect(seen.draining).toBe(1);
  });

  test("ports open one by one, where a boot is held at one", async () => {
    world = await createWorld();
    const ports = [
      { number: 2022, protocol: "tcp" },
      { number: 2023, protocol: "tcp" },
    ];
    const key = world.write(
      "target",
      echoSpec({ containers: [{ name: "main", image: "echo", ports }], ...suspended }),
    );
    const caller = world.platform.impersonate(key).address;
    const hold = world.platform.holdBoot(key, { port: 2023 });
    world.suspend(key, false);
    await hold.reached;
    await world.platform.when(key, (seen) => seen.ready === 1);
    await firstBytes(world.dial(key, 2022, caller));
    world.dial(key, 2023, caller);
    await world.platform.when(key, (seen) => seen.connections({ port: 2023, outcome: "mute" }).length === 1);
    hold.release();
    await world.platform.when(key, (seen) => seen.replicas[0]?.closedPorts.length === 0);
    await firstBytes(world.dial(key, 2023, caller));
  });
});

describe("the mesh's firewall", () => {
  const open = (internal: JsonObject) => echoSpec({ firewallConfig: { internal } });
  const outcome = async (key: ResourceKey, from: string) => {
    const socket = world.dial(key, 2022, from);
    const { text, reset } = await ending(socket.once("data", () => socket.destroy()));
    return reset ? "reset" : text === "" ? "nothing" : "served";
  };

  test.each([
    ["nobody by default", {}, { same: "reset", other: "reset", stranger: "reset" }],
    ["its GVC", { inboundAllowType: "same-gvc" }, { same: "served", other: "reset", stranger: "reset" }],
    ["its org", { inboundAllowType: "same-org" }, { same: "served", other: "served", stranger: "reset" }],
    [
      "a list",
      { inboundAllowType: "workload-list", inboundAllowWorkload: ["//gvc/other/workload/proxy"] },
      { same: "reset", other: "served", stranger: "reset" },
    ],
    [
      "a list in full links",
      { inboundAllowType: "workload-list", inboundAllowWorkload: ["/org/acme/gvc/shop/workload/proxy"] },
      { same: "served", other: "reset", stranger: "reset" },
    ],
  ])("lets in %s", async (_, internal, expected) => {
    world = await createWorld();
    const key = world.write("target", open(internal));
    await world.platform.when(key, (seen) => seen.ready === 1);
    const same = world.platform.impersonate(workloadKey("proxy")).address;
    const other = world.platform.impersonate(workloadKey("proxy", "other")).address;
    expect({
      same: await outcome(key, same),
      other: await outcome(key, other),
      stranger: await outcome(key, "127.0.0.1"),
    }).toEqual(expected);
  });

  test("closes again when the document does, late where the switch says so", async () => {
    world = await createWorld({ paused: true });
    const { key, caller } = await targetAndCaller();
    world.platform.switches.firewallLagMs = 30_000;
    world.write("target", open({ inboundAllowType: "none" }));
    expect(await outcome(key, caller)).toBe("served");
    world.clock.advance(30_000);
    expect(await outcome(key, caller)).toBe("reset");
  });

  test("an undeclared port is not there", async () => {
    world = await createWorld();
    const { key, caller } = await targetAndCaller();
    const [error] = (await once(world.dial(key, 29_024, caller), "error").catch((e) => [e])) as [
      NodeJS.ErrnoException,
    ];
    expect(error.code).toBe("ECONNREFUSED");
  });
});

describe("the mesh's relay", () => {
  test("ends each direction by itself", async () => {
    const more = functionImage({
      name: "reverse",
      run: (container) =>
        void container.listen(2022, (socket) => {
          let text = "";
          socket.on("data", (chunk) => {
            text += chunk.toString();
          });
          // Answers only once its caller has said everything.
          socket.on("end", () => socket.end([...text].reverse().join("")));
        }),
    });
    world = await createWorld({ more: [more] });
    const containers = [{ name: "main", image: "reverse", ports: [{ number: 2022, protocol: "tcp" }] }];
    const { key, caller } = await targetAndCaller({ containers });
    const socket = world.dial(key, 2022, caller);
    const end = ending(socket);
    socket.end("stressed");
    expect(await end).toEqual({ text: "desserts", reset: false, ended: true });
  });

  test("passes a reset on, both ways", async () => {
    const sides: net.Socket[] = [];
    const arrived = new EventTarget();
    const more = functionImage({
      name: "keeper",
      run: (container) =>
        void container.listen(2022, (socket) => {
          sides.push(socket);
          socket.write("hello");
          arrived.dispatchEvent(new Event("socket"));
        }),
    });
    world = await createWorld({ more: [more] });
    const containers = [{ name: "main", image: "keeper", ports: [{ number: 2022, protocol: "tcp" }] }];
    const { key, caller } = await targetAndCaller({ containers });

    const first = world.dial(key, 2022, caller);
    await firstBytes(first);
    const firstEnd = ending(first);
    sides[0]?.resetAndDestroy();
    expect(await firstEnd).toMatchObject({ reset: true });

    const second = world.dial(key, 2022, caller);
    await firstBytes(second);
    const seen = once(sides[1] as net.Socket, "error").catch((error) => [error]);
    sides[1]?.resume();
    second.resetAndDestroy();
    expect((await seen)[0]).toMatchObject({ code: "ECONNRESET" });
  });

  test("slows a sender down that nobody reads from", async () => {
    let taken: net.Socket | undefined;
    const more = functionImage({
      name: "idle",
      run: (container) =>
        void container.listen(2022, (socket) => {
          taken = socket.pause();
          socket.write("hello");
        }),
    });
    world = await createWorld({ more: [more] });
    const containers = [{ name: "main", image: "idle", ports: [{ number: 2022, protocol: "tcp" }] }];
    const { key, caller } = await targetAndCaller({ containers });
    const socket = world.dial(key, 2022, caller);
    await firstBytes(socket);
    const total = 64 * 2 ** 20;
    socket.write(Buffer.alloc(total));
    socket.end();
    // Whatever buffers there are on the way, they hold less than this.
    await world.platform.when(key, (seen) => (seen.connections()[0]?.bytesIn ?? 0) >= 0);
    let received = 0;
    taken?.on("data", (chunk: Buffer) => {
      received += chunk.length;
    });
    const inFlight = world.platform.connections(key)[0]?.bytesIn ?? 0;
    expect(inFlight).toBeLessThan(total / 2);
    taken?.resume();
    await once(taken as net.Socket, "end");
    expect(received).toBe(total);
  });

  test("cuts a connection that is silent for an hour, where that is switched on", async () => {
    world = await createWorld({ paused: true, switches: { silenceCutMs: 3_600_000 } });
    const { key, caller } = await targetAndCaller();
    const socket = world.dial(key, 2022, caller);
    await firstBytes(socket);
    world.clock.advance(3_000_000);
    socket.write("x");
    await firstBytes(socket);
    const end = ending(socket);
    world.clock.advance(3_599_999);
    expect(world.platform.connections(key, { open: true })).toHaveLength(1);
    world.clock.advance(1);
    expect(await end).toMatchObject({ ended: true });
  });

  test("a replica whose process does not listen is a reset", async () => {
    world = await createWorld({ more: [functionImage({ name: "deaf", run: () => {} })] });
    const containers = [{ name: "main", image: "deaf", ports: [{ number: 2022, protocol: "tcp" }] }];
    const { key, caller } = await targetAndCaller({ containers });
    expect(await ending(world.dial(key, 2022, caller))).toMatchObject({ reset: true });
    expect(world.platform.connections(key)).toMatchObject([{ outcome: "failed" }]);
  });
});

describe("several locations", () => {
  test("each has its own replicas; a caller is served where it is, else elsewhere", async () => {
    world = await createWorld({ locations: ["aws-eu-1", "gcp-us-2"], graceMs: 0 });
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 2);
    const proxy = workloadKey("proxy");
    const european = world.platform.impersonate(proxy, "aws-eu-1").address;
    const american = world.platform.impersonate(proxy, "gcp-us-2").address;
    const [eu = "", us = ""] = ["aws-eu-1", "gcp-us-2"].map(
      (place) => world.platform.replicas(key, place)[0],
    );
    expect(await firstBytes(world.dial(key, 2022, european))).toBe(`${eu}\n`);
    expect(await firstBytes(world.dial(key, 2022, american))).toBe(`${us}\n`);
    const local = { autoscaling: { minScale: 0, maxScale: 0 } };
    world.write("target", echoSpec({ localOptions: [{ location: "//location/gcp-us-2", ...local }] }));
    await world.platform.when(key, (seen) => seen.replicas.length === 1);
    expect(await firstBytes(world.dial(key, 2022, american))).toBe(`${eu}\n`);
    expect(world.platform.deployments(key)).toMatchObject([
      { name: "aws-eu-1", status: { ready: true } },
      { name: "gcp-us-2", status: { ready: false } },
    ]);
  });

  test.each([
    [true, "mute"],
    [false, "relayed"],
  ])(
    "one that was suspended by itself twice is lost to the others: %s",
    async (localSuspendTrap, outcome) => {
      world = await createWorld({
        locations: ["aws-eu-1", "gcp-us-2"],
        graceMs: 0,
        switches: { localSuspendTrap },
      });
      const key = world.write("target", echoSpec());
      const scaled = { location: "//location/gcp-us-2", autoscaling: { minScale: 0, maxScale: 0 } };
      for (const suspend of [true, false, true, false]) {
        world.write(
          "target",
          echoSpec({ localOptions: [{ location: "//location/aws-eu-1", suspend }, scaled] }),
        );
      }
      await world.platform.when(key, (seen) => seen.ready === 1 && seen.replicas.length === 1);
      const there = world.platform.impersonate(workloadKey("proxy"), "aws-eu-1").address;
      const elsewhere = world.platform.impersonate(workloadKey("proxy"), "gcp-us-2").address;
      await firstBytes(world.dial(key, 2022, there));
      world.dial(key, 2022, elsewhere);
      await world.platform.when(key, (seen) => seen.connections().length === 2);
      expect(world.platform.connections(key)[1]?.outcome).toBe(outcome);
    },
  );

  test("names lead to one location, to all, or to a single replica", async () => {
    world = await createWorld({ locations: ["aws-eu-1", "gcp-us-2"] });
    const key = world.write("db", echoSpec({ type: "stateful", loadBalancer: { replicaDirect: true } }));
    await world.platform.when(key, (seen) => seen.ready === 2);
    const caller = world.platform.impersonate(workloadKey("proxy")).address;
    const resolve = (name: string) => world.platform.resolve(name, caller);
    expect(resolve("db.shop.cpln.local")).toBe(world.platform.meshAddress(key));
    expect(resolve("db")).toBe(world.platform.meshAddress(key));
    expect(resolve("db.gcp-us-2.shop.cpln.local")).toBe(
      world.platform.meshAddress(key, { location: "gcp-us-2" }),
    );
    expect(resolve("replica-0.db.gcp-us-2.shop.cpln.local")).toBe(
      world.platform.meshAddress(key, { location: "gcp-us-2", index: 0 }),
    );
    expect(resolve("replica-0.db.shop.cpln.local")).toBe(world.platform.meshAddress(key, { index: 0 }));
    expect(resolve("db-0.db")).toBe(world.platform.meshAddress(key, { index: 0 }));
    expect(resolve("replica-1.db.shop.cpln.local")).toBeUndefined();
    expect(resolve("db.elsewhere.cpln.local")).toBeUndefined();
    expect(world.platform.workloadStatus(key).status.replicaInternalNames).toEqual([
      "replica-0.db.aws-eu-1.shop.cpln.local",
      "replica-0.db.gcp-us-2.shop.cpln.local",
    ]);
  });

  test("a location that its GVC gains is filled, and one that it loses is emptied", async () => {
    world = await createWorld({ locations: ["aws-eu-1"], graceMs: 0 });
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    const place = (...names: string[]) =>
      world.store.put(
        { org, kind: "gvc", name: "shop" },
        resource("gvc", "shop", 2, { spec: { staticPlacement: { locationLinks: names } } }),
      );
    place("//location/aws-eu-1", "//location/gcp-us-2");
    await world.platform.when(key, (seen) => seen.ready === 2);
    place("//location/gcp-us-2");
    const seen = await world.platform.when(key, (now) => now.replicas.length === 1);
    expect(seen.locations.map(({ name }) => name)).toEqual(["gcp-us-2"]);
  });
});
