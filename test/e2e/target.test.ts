/** A target that another stack owns: it outlives its proxy, and is usable without it. */
import { once } from "node:events";
import net from "node:net";
import * as cpln from "@pulumiverse/cpln";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { ResourceKey } from "../../simulator/src/model.ts";
import { ignoreSuspend, ScaleToZeroTcp } from "../../src/index.ts";
import { connectPeer } from "../support/client.ts";
import { withInlineStack } from "../support/engine.ts";

const org = "acme";
const gvc = "demo";
const key = (name: string): ResourceKey => ({ org, kind: "workload", gvc, name });
const target = key("lines");
const proxy = key("lines-proxy");
// One that suggests no protocol: the server's first bytes are awaited.
const PORT = 7022;
const BANNER = "220 lines\r\n";

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ org, gvcs: [gvc], workloads: { bootMs: 300, probeTimeScale: 0.2 } });
});
afterAll(() => simulator?.dispose());

const env = () => ({
  CPLN_ENDPOINT: simulator.apiUrl,
  CPLN_ORG: org,
  CPLN_TOKEN: simulator.deployerToken,
});

const owner = async () => {
  new cpln.Workload(
    target.name,
    {
      name: target.name,
      gvc,
      type: "standard",
      containers: [
        {
          name: "main",
          image: "echo-banner:1",
          ports: [{ number: PORT, protocol: "tcp" }],
          env: { BANNER },
          readinessProbe: { tcpSocket: { port: PORT }, initialDelaySeconds: 0, periodSeconds: 1 },
        },
      ],
      options: {
        suspend: true,
        autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 },
        capacityAi: false,
      },
      firewallSpec: { internal: { inboundAllowType: "same-gvc" } },
    },
    { ignoreChanges: ignoreSuspend },
  );
};

const proxies = async () => {
  new ScaleToZeroTcp(target.name, {
    gvc,
    target: target.name,
    ports: [{ port: PORT }],
    allow: ["0.0.0.0/0"],
    idleHold: "1h",
  });
};

async function byHand(suspend: boolean): Promise<void> {
  const response = await fetch(`${simulator.apiUrl}/org/${org}/gvc/${gvc}/workload/${target.name}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${simulator.deployerToken}` },
    body: JSON.stringify({ spec: { defaultOptions: { suspend } } }),
  });
  expect(response.status).toBe(200);
}

/** What a neighbour in the GVC hears from it. */
async function fromTheMesh(): Promise<string> {
  const neighbour = simulator.platform.impersonate(key("neighbour"));
  const host = simulator.platform.meshAddress(target);
  const socket = net.connect({ host, port: PORT, localAddress: neighbour.address });
  const [chunk] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  neighbour.release();
  return chunk.toString();
}

describe("a target in a stack of its own", () => {
  it("is woken through a proxy of another stack, and there and usable when that one is destroyed", async () => {
    await withInlineStack(
      owner,
      async (stack) => {
        await stack.up();
        await withInlineStack(
          proxies,
          async (other) => {
            await other.up();
            await simulator.platform.when(proxy, ({ ready }) => ready > 0);
            const { host, port } = await simulator.platform.endpoint(proxy, PORT);
            const client = await connectPeer(port, { host });
            expect(await client.text(BANNER.length)).toBe(BANNER);
            client.socket.destroy();
          },
          { env: env() },
        );
        expect(simulator.store.get(proxy)).toBeUndefined();
        // As it was left: awake, since its idle-hold was not over.
        expect(await fromTheMesh()).toBe(BANNER);
        await byHand(true);
        await simulator.platform.when(target, ({ ready }) => ready === 0);
        await byHand(false);
        await simulator.platform.when(target, ({ ready }) => ready > 0);
        expect(await fromTheMesh()).toBe(BANNER);
        await stack.preview({ refresh: true, expectNoChanges: true });
      },
      { env: env() },
    );
  });
});
