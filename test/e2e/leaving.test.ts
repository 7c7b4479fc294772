/**
 * What leaves when the component goes or is replaced, and in which order: `retainOnDelete` and `deleteBeforeReplace`
 * under the real engine, with the real proxy, whose address is what they are about.
 */
import type * as pulumi from "@pulumi/pulumi";
import type { Stack } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bannerEcho, functionImage } from "../../simulator/src/images/index.ts";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import { ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import { connectPeer } from "../support/client.ts";
import { withInlineStack } from "../support/engine.ts";
import { watch } from "./provider-support.ts";

const org = "acme";
const gvc = "prod";
const BANNER = "220 hello\r\n";
// One that suggests no protocol: the server's first bytes are awaited.
const PORT = 7022;
const at = `/org/${org}/gvc/${gvc}`;

let simulator: Simulator;
beforeAll(async () => {
  const greeter = functionImage({ name: "greeter", run: bannerEcho(BANNER) });
  simulator = await startSimulator({ org, gvcs: [gvc], workloads: { images: [greeter], bootMs: 50 } });
});
afterAll(() => simulator?.dispose());

async function call(method: string, path: string, body?: object): Promise<void> {
  const response = await fetch(simulator.apiUrl + path, {
    method,
    headers: { authorization: simulator.deployerToken },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}

const createTarget = (name: string) =>
  call("POST", `${at}/workload`, {
    name,
    spec: {
      type: "standard",
      containers: [{ name: "main", image: "greeter:1", ports: [{ number: PORT, protocol: "tcp" }] }],
      defaultOptions: {
        suspend: true,
        autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 },
        capacityAI: false,
      },
      firewallConfig: { internal: { inboundAllowType: "same-gvc" } },
    },
  });

const workload = (name: string) => ({ org, kind: "workload", gvc, name });

/** Where clients of this proxy connect to, once it serves. */
async function addressOf(proxy: string): Promise<{ host: string; port: number }> {
  await simulator.platform.when(workload(proxy), ({ ready }) => ready > 0);
  await simulator.platform.settled();
  return simulator.platform.endpoint(workload(proxy), PORT);
}

async function greeting({ host, port }: { host: string; port: number }): Promise<string> {
  const client = await connectPeer(port, { host });
  const said = await client.text(BANNER.length);
  client.reset();
  await client.closed;
  return said;
}

/** A stack of one component for the target of the same name, which a test changes between two updates. */
async function withComponent(
  name: string,
  use: (
    stack: Stack,
    next: (change: Partial<ScaleToZeroTcpArgs>, opts?: pulumi.ComponentResourceOptions) => Promise<string[]>,
  ) => Promise<void>,
) {
  let [change, opts]: [Partial<ScaleToZeroTcpArgs>, pulumi.ComponentResourceOptions] = [{}, {}];
  const args = { gvc, target: name, ports: [{ port: PORT }], allow: ["0.0.0.0/0"], preflight: false };
  await withInlineStack(
    async () => void new ScaleToZeroTcp(name, { ...args, ...change }, opts),
    (stack) =>
      use(stack, async (args, options = {}) => {
        [change, opts] = [args, options];
        const { steps, onEvent } = watch();
        await stack.up({ onEvent });
        return steps;
      }),
    {
      env: { CPLN_ENDPOINT: simulator.apiUrl, CPLN_ORG: org, CPLN_TOKEN: simulator.deployerToken },
    },
  );
}

/** What was asked of the API about proxies since the recorder was cleared, in order. */
const asked = () =>
  simulator.recorder.matching({ method: ["POST", "DELETE"] }).map(({ method, path, body }) => {
    const { name } = (body ?? {}) as { name?: string };
    return `${method} ${(name === undefined ? path : `${path}/${name}`).split("/").slice(-2).join("/")}`;
  });

it("retainOnDelete leaves the proxy, its rights and its address, and they go on working until they are taken back", async () => {
  await createTarget("kept");
  await withComponent("kept", async (stack, next) => {
    await next({}, { retainOnDelete: true });
    const address = await addressOf("kept-proxy");
    simulator.recorder.clear();
    await stack.destroy();
    expect(simulator.recorder.matching({ method: "DELETE" })).toEqual([]);
    expect(await addressOf("kept-proxy")).toEqual(address);
    // It still may wake the target, and does.
    expect(await greeting(address)).toBe(BANNER);

    await expect(next({})).rejects.toThrow(/already exists/);
    // A stack that knows nothing of them adopts them, as docs/adopt.md says; the address is still the same.
    const ids: Record<string, string> = {
      "cpln:index/identity:Identity": `${gvc}:kept-proxy`,
      "cpln:index/policy:Policy": `kept-proxy-${gvc}`,
      "cpln:index/workload:Workload": `${gvc}:kept-proxy`,
    };
    const adopt: pulumi.ResourceTransform = ({ type, props, opts }) =>
      ids[type] === undefined ? undefined : { props, opts: { ...opts, import: ids[type] } as never };
    const steps = await next({}, { transforms: [adopt] });
    expect(steps.filter((step) => !/^(create kept$|import |update )/.test(step))).toEqual([]);
    expect(await addressOf("kept-proxy")).toEqual(address);
  });
  expect(simulator.store.get(workload("kept-proxy"))).toBeUndefined();
});

it("retainOnDelete leaves a replaced proxy too, beside the new one", async () => {
  await createTarget("twice");
  await withComponent("twice", async (_, next) => {
    await next({}, { retainOnDelete: true });
    const address = await addressOf("twice-proxy");
    await next({ workloadName: "twice-again" }, { retainOnDelete: true });
    expect(await addressOf("twice-proxy")).toEqual(address);
    expect(await addressOf("twice-again")).not.toEqual(address);
    await call("DELETE", `${at}/workload/twice-proxy`);
    await next({ workloadName: "twice-again" });
  });
});

it("a replaced proxy goes after the new one has come, or with deleteBeforeReplace first; either way the address is another", async () => {
  await createTarget("moved");
  const first: pulumi.ResourceTransform = ({ type, props, opts }) =>
    type === "cpln:index/workload:Workload"
      ? { props, opts: { ...opts, deleteBeforeReplace: true } as never }
      : undefined;
  await withComponent("moved", async (_, next) => {
    await next({});
    const addresses = [await addressOf("moved-proxy")];
    const rename = async (workloadName: string, opts: pulumi.ComponentResourceOptions) => {
      simulator.recorder.clear();
      const steps = await next({ workloadName }, opts);
      addresses.push(await addressOf(workloadName));
      return { steps: steps.map((step) => step.replace(/:.*/, "")), calls: asked() };
    };
    expect(await rename("moved-once", {})).toEqual({
      steps: ["create-replacement moved-proxy", "replace moved-proxy", "delete-replaced moved-proxy"],
      calls: ["POST workload/moved-once", "DELETE workload/moved-proxy"],
    });
    expect(await rename("moved-twice", { transforms: [first] })).toEqual({
      steps: ["delete-replaced moved-proxy", "replace moved-proxy", "create-replacement moved-proxy"],
      calls: ["DELETE workload/moved-once", "POST workload/moved-twice"],
    });
    const [before, , after] = addresses;
    expect(new Set(addresses.map(({ port }) => port)).size).toBe(3);
    await expect(greeting(before as { host: string; port: number })).resolves.toBe("");
    expect(await greeting(after as { host: string; port: number })).toBe(BANNER);
  });
});
