import { once } from "node:events";
import net from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { functionImage } from "../../../simulator/src/images/index.ts";
import type { JsonObject, ResourceKey } from "../../../simulator/src/model.ts";
import { createWorld, echoSpec, ending, firstBytes, type World } from "./world.ts";

let world: World;
const sockets: net.Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await world.dispose();
});

const balanced = (more: JsonObject = {}, external: JsonObject = { inboundAllowCIDR: ["0.0.0.0/0"] }) =>
  echoSpec({
    loadBalancer: {
      direct: {
        enabled: true,
        ports: [{ externalPort: 22, protocol: "TCP", scheme: "tcp", containerPort: 2022 }],
      },
    },
    firewallConfig: { external },
    ...more,
  });

async function connect(key: ResourceKey, from = "127.0.0.1", location?: string): Promise<net.Socket> {
  const { host, port } = await world.platform.endpoint(key, 22, location);
  const socket = net.connect({ host, port, localAddress: from, allowHalfOpen: true });
  socket.on("error", () => {});
  sockets.push(socket);
  return socket;
}

const up = (key: ResourceKey, ready = 1) => world.platform.when(key, (seen) => seen.ready === ready);

describe("the direct load balancer", () => {
  test("serves an external port, and is the canonical endpoint", async () => {
    world = await createWorld();
    const key = world.write("proxy", balanced());
    const { replicas } = await up(key);
    expect(await firstBytes(await connect(key))).toBe(`${replicas[0]?.name}\n`);
    const { port } = await world.platform.endpoint(key, 22);
    expect(world.platform.workloadStatus(key).status).toMatchObject({
      canonicalEndpoint: `tcp://127.0.0.1:${port}`,
      loadBalancer: [{ origin: "/org/acme/location/aws-eu-1", url: `tcp://127.0.0.1:${port}` }],
    });
    expect(world.platform.connections(key, { via: "load-balancer", port: 22 })).toHaveLength(1);
  });

  test("keeps its port over updates, and over being switched off", async () => {
    world = await createWorld({ graceMs: 0 });
    const key = world.write("proxy", balanced());
    await up(key);
    const before = await world.platform.endpoint(key, 22);
    world.write("proxy", balanced({ securityOptions: { runAsUser: 1000 } }));
    await world.platform.when(key, (seen) =>
      seen.replicas.every((item) => item.generation === 2 && item.ready),
    );
    expect(await world.platform.endpoint(key, 22)).toEqual(before);
    world.write("proxy", echoSpec());
    await world.platform.settled();
    await expect(world.platform.endpoint(key, 22)).rejects.toThrow("no open load balancer port 22");
    const refused = net.connect(before);
    sockets.push(refused);
    const [error] = (await once(refused, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNREFUSED");
    world.write("proxy", balanced());
    expect(await world.platform.endpoint(key, 22)).toEqual(before);
  });

  test.each([
    ["nobody", {}, { "127.0.0.1": false, "127.9.9.9": false }],
    ["a range", { inboundAllowCIDR: ["127.9.0.0/16"] }, { "127.0.0.1": false, "127.9.9.9": true }],
    [
      "all but a range",
      { inboundAllowCIDR: ["0.0.0.0/0"], inboundBlockedCIDR: ["127.9.9.9/32"] },
      { "127.0.0.1": true, "127.9.9.9": false },
    ],
  ])("lets in %s by its firewall", async (_, external, expected) => {
    world = await createWorld();
    const key = world.write("proxy", balanced({}, external));
    await up(key);
    for (const [from, admitted] of Object.entries(expected)) {
      const socket = await connect(key, from);
      const end = ending(socket.once("data", () => socket.destroy()));
      expect({ from, admitted: !(await end).reset }).toEqual({ from, admitted });
    }
  });

  test.each([
    ["client", "127.9.9.9"],
    ["sidecar", "127.0.0.6"],
  ] as const)("shows a container the %s's address", async (loadBalancerPeer, expected) => {
    const peer = functionImage({
      name: "peer",
      run: (container) => void container.listen(2022, (socket) => socket.end(String(socket.remoteAddress))),
    });
    world = await createWorld({ more: [peer], switches: { loadBalancerPeer } });
    const ports = [{ number: 2022, protocol: "tcp" }];
    const key = world.write("proxy", balanced({ containers: [{ name: "main", image: "peer", ports }] }));
    await up(key);
    expect(await firstBytes(await connect(key, "127.9.9.9"))).toBe(expected);
  });

  test("hears late that a replica is going away", async () => {
    world = await createWorld({ paused: true, graceMs: 60_000 });
    const key = world.write("proxy", balanced());
    await up(key);
    world.suspend(key, true);
    world.clock.advance(9_999);
    await firstBytes(await connect(key));
    world.clock.advance(1);
    expect(await ending(await connect(key))).toMatchObject({ reset: true });
    expect(world.platform.connections(key).map(({ outcome }) => outcome)).toEqual(["relayed", "unavailable"]);
  });

  test("each location has its own", async () => {
    world = await createWorld({ locations: ["aws-eu-1", "gcp-us-2"] });
    const key = world.write("proxy", balanced());
    await up(key, 2);
    const [us] = world.platform.replicas(key, "gcp-us-2");
    expect(await firstBytes(await connect(key, "127.0.0.1", "gcp-us-2"))).toBe(`${us}\n`);
    expect(await world.platform.endpoint(key, 22, "aws-eu-1")).not.toEqual(
      await world.platform.endpoint(key, 22, "gcp-us-2"),
    );
  });
});
