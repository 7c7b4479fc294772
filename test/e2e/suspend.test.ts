/**
 * `suspend` belongs to the proxy: what each operation of Pulumi makes of its flips, cell by cell, and the way out. The
 * flips are the proxy's own, made for real clients by its workload identity.
 */
import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bannerEcho, functionImage } from "../../simulator/src/images/index.ts";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { JsonObject } from "../../simulator/src/model.ts";
import { ignoreSuspend, liveSuspend, ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "../../src/index.ts";
import { connectPeer, type Peer } from "../support/client.ts";
import { withInlineStack } from "../support/engine.ts";
import { type Cell, cells, type Moment, moments, type Operation } from "../support/suspend-cells.ts";
import { watch } from "./provider-support.ts";

const org = "acme";
const gvc = "drift";
const BANNER = "220 hello\r\n";
// Ports that suggest no protocol: the server's first bytes are awaited.
const TARGET_PORT = 7022;
const FIRST_PORT = 7100;

let simulator: Simulator;
beforeAll(async () => {
  const greeter = functionImage({ name: "greeter", run: bannerEcho(BANNER) });
  simulator = await startSimulator({ org, gvcs: [gvc], workloads: { images: [greeter], bootMs: 50 } });
});
afterAll(() => simulator?.dispose());

const env = () => ({
  CPLN_ENDPOINT: simulator.apiUrl,
  CPLN_ORG: org,
  CPLN_TOKEN: simulator.deployerToken,
});
const workload = (name: string) => ({ org, kind: "workload", gvc, name });

function isSuspended(name: string): boolean | undefined {
  const spec = simulator.store.get(workload(name))?.spec as JsonObject | undefined;
  return (spec?.defaultOptions as { suspend?: boolean } | undefined)?.suspend;
}

const when = (name: string, status: "suspended" | "notSuspended") =>
  simulator.platform.when(workload(name), ({ suspendedStatus }) => suspendedStatus === status);

/** Writes to a workload after this call: by the proxy, or by Pulumi. */
const writes = (name: string, by: "proxy" | "pulumi", since = 0) => ({
  method: "PATCH",
  path: `/org/${org}/gvc/${gvc}/workload/${name}`,
  principal: by === "proxy" ? /\/identity\// : /\/serviceaccount\/deployer$/,
  where: ({ id }: { id: number }) => id > since,
});

/** What was written to its `suspend` and accepted, in order. */
const written = (...which: Parameters<typeof writes>): boolean[] =>
  simulator.recorder
    .matching(writes(...which))
    .filter(({ status }) => status === 200)
    .map(({ body }) => /"suspend":(true|false)/.exec(JSON.stringify(body))?.[1] === "true");

const target = (name: string, suspend: pulumi.Input<boolean>, word = "one"): cpln.WorkloadArgs => ({
  name,
  gvc,
  type: "standard",
  containers: [
    {
      name: "main",
      image: "greeter:1",
      ports: [{ number: TARGET_PORT, protocol: "tcp" }],
      env: { WORD: word },
    },
  ],
  options: { capacityAi: false, autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 }, suspend },
  firewallSpec: { internal: { inboundAllowType: "same-gvc" } },
  // After a wake by another hand, the proxy waits for as long as the old generation might still answer.
  rolloutOptions: [{ terminationGracePeriodSeconds: 5 }],
});

/** A proxy waits for the grace of the one that it may have replaced before it suspends. These replace nobody. */
const replacesNobody: pulumi.ResourceTransform = ({ type, props, opts }) => {
  if (type !== "cpln:index/workload:Workload") return undefined;
  const containers = props.containers.map((container: { env: pulumi.Input<Record<string, string>> }) => ({
    ...container,
    env: pulumi.output(container.env).apply(({ OWN_GRACE: _, ...rest }) => rest),
  }));
  return { props: { ...props, containers }, opts };
};

const proxyOf = (name: string, args: Pick<ScaleToZeroTcpArgs, "targets"> & Partial<ScaleToZeroTcpArgs>) =>
  new ScaleToZeroTcp(
    name,
    { gvc, allow: ["0.0.0.0/0"], idleHold: "200ms", preflight: false, ...args },
    { transforms: [replacesNobody] },
  );

/** A client in a session with its target, through the proxy. */
async function client(proxy: string, port: number): Promise<Peer> {
  await simulator.platform.when(workload(proxy), ({ ready }) => ready > 0);
  const { host, port: local } = await simulator.platform.endpoint(workload(proxy), port);
  const peer = await connectPeer(local, { host });
  expect(await peer.text(BANNER.length)).toBe(BANNER);
  return peer;
}

async function isServed(peer: Peer): Promise<boolean> {
  peer.write("still?");
  return (await peer.text(6)) === "still?";
}

interface Place {
  cell: Cell;
  moment: Moment;
  name: string;
  port: number;
}

/** What became of one cell's target. */
interface Seen {
  /** What the proxy had made of `suspend` before. */
  flipped: boolean | undefined;
  shown: string[];
  /** What Pulumi has written to `suspend` agrees with the proxy. */
  stays: boolean;
}

/** One operation on a stack that holds a target for each of its cells, and the proxy. */
class Story {
  readonly operation: Operation;
  readonly places: Place[];
  readonly seen = new Map<string, Seen>();
  readonly #stem: string;
  readonly #connected = new Map<string, Peer>();

  constructor(operation: Operation) {
    this.operation = operation;
    this.#stem = operation.replaceAll(/\W+/g, "-");
    this.places = cells
      .filter((cell) => cell.operation === operation)
      .flatMap((cell) => moments.map((moment) => ({ cell, moment })))
      .map((each, index) => ({ ...each, name: `${this.#stem}-${index}`, port: FIRST_PORT + index }));
  }

  /** The proxy brings each target to where its cell has it; then Pulumi runs. */
  async run(): Promise<void> {
    let again = false;
    const program = async () => this.#declare(again);
    await withInlineStack(
      program,
      async (stack) => {
        await stack.up();
        await Promise.all(this.places.map((place) => this.#bring(place)));
        const flipped = new Map(this.places.map(({ name }) => [name, written(name, "proxy").at(-1)]));
        const mark = simulator.recorder.calls.at(-1)?.id ?? 0;
        again = true;
        const { steps, onEvent } = watch();
        if (this.operation === "refresh") await stack.refresh({ onEvent });
        else await stack.up({ refresh: this.operation === "up --refresh", onEvent });
        for (const place of this.places) {
          this.seen.set(place.name, {
            flipped: flipped.get(place.name),
            shown: shownIn(steps, place.name),
            stays: written(place.name, "pulumi", mark).every((suspend) => suspend === isFlipped(place)),
          });
        }
        await Promise.all(this.places.map((place) => this.#settles(place, mark)));
      },
      { env: env() },
    );
  }

  #declare(again: boolean): void {
    const targets = this.places.map(({ cell, moment, name, port }) => {
      const recorded = moment === "connected";
      const suspend = cell.way === "liveSuspend" && again ? liveSuspend({ gvc, name }) : recorded;
      const made = new cpln.Workload(
        name,
        target(name, suspend, again && cell.change ? "two" : "one"),
        cell.way === "ignoreSuspend" ? { ignoreChanges: ignoreSuspend } : {},
      );
      return { target: made, ports: [{ port, target: TARGET_PORT }] };
    });
    proxyOf(this.#stem, { targets, watchInterval: "250ms" });
  }

  async #bring({ moment, name, port }: Place): Promise<void> {
    if (moment === "suspended") await when(name, "suspended");
    else this.#connected.set(name, await client(`${this.#stem}-proxy`, port));
  }

  /** What the table promises of the time after: a session that nothing touched goes on, a wrong flip is undone. */
  async #settles({ cell, moment, name }: Place, mark: number): Promise<void> {
    const session = this.#connected.get(name);
    if (!cell.stays) {
      await simulator.recorder.waitFor(writes(name, "proxy", mark));
      expect(written(name, "proxy", mark)).toEqual([moment === "suspended"]);
    } else if (session && !cell.change) expect(await isServed(session)).toBe(true);
    session?.reset();
  }
}

const isFlipped = ({ moment }: Place): boolean => moment === "suspended";

function shownIn(steps: readonly string[], name: string): string[] {
  const update = steps.find((step) => step.startsWith(`update ${name}: `));
  return (
    update
      ?.replace(/^.*?: /, "")
      .split(" ")
      .sort() ?? []
  );
}

const stories = (["up", "refresh", "up --refresh"] satisfies Operation[]).map((each) => new Story(each));
// All at once: most of their time is the engine's.
beforeAll(() => Promise.all(stories.map((story) => story.run())));

it("every cell of the table has its story", () => {
  expect(stories.flatMap(({ places }) => places.map(({ cell }) => cell)).length).toBe(
    cells.length * moments.length,
  );
});

describe.each(stories)("$operation", ({ places, seen }) => {
  it.each(
    places.map((place) => [place.cell.way, place.cell.change ? "yes" : "no", place.moment, place] as const),
  )("%s, target changed too: %s, while %s", (_way, _change, _moment, place) => {
    const { shown, stays } = place.cell;
    expect(seen.get(place.name)).toEqual({ flipped: isFlipped(place), shown, stays });
  });
});

describe("to retire the component", () => {
  it("with the target awake, declare it awake, without ignoring, and refresh", async () => {
    let retired = false;
    const program = async () => {
      const made = new cpln.Workload(
        "retired",
        target("retired", !retired),
        retired ? {} : { ignoreChanges: ignoreSuspend },
      );
      if (retired) return;
      proxyOf("retired", { targets: [{ target: made, ports: [{ port: FIRST_PORT, target: TARGET_PORT }] }] });
    };
    await withInlineStack(
      program,
      async (stack) => {
        await stack.up();
        const session = await client("retired-proxy", FIRST_PORT);
        await stack.refresh();
        session.reset();
        await when("retired", "suspended");
        retired = true;
        const { steps, onEvent } = watch();
        await stack.up({ refresh: true, onEvent });
        expect(
          steps.filter((step) => step.includes("retired") && !step.startsWith("refresh")).sort(),
        ).toEqual([
          "delete retired",
          "delete retired-identity",
          "delete retired-policy",
          "delete retired-proxy",
          "update retired: options.suspend",
        ]);
        expect(isSuspended("retired")).toBe(false);
      },
      { env: env() },
    );
  });

  it("a destroy leaves a target of elsewhere as it is", async () => {
    const elsewhere = async () => void new cpln.Workload("outside", target("outside", false));
    await withInlineStack(
      elsewhere,
      async (owner) => {
        await owner.up();
        const targets = [{ target: "outside", ports: [{ port: FIRST_PORT, target: TARGET_PORT }] }];
        await withInlineStack(
          async () => void proxyOf("outside", { targets }),
          async (stack) => {
            await stack.up();
            await when("outside", "suspended");
            await stack.destroy();
            expect(isSuspended("outside")).toBe(true);
          },
          { env: env() },
        );
      },
      { env: env() },
    );
  });
});
