import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject, ResourceKey } from "../../../simulator/src/model.ts";
import { createWorld, echoSpec, type World } from "./world.ts";

let world: World;
afterEach(() => world.dispose());

const suspended = { defaultOptions: { suspend: true } };

const statusOf = (key: ResourceKey) => (world.platform.deployments(key)[0] as { status: JsonObject }).status;
/** `version:replicas/ready`, newest first. */
const versionsOf = (key: ResourceKey) =>
  (
    statusOf(key).versions as { workload: number; containers: Record<string, { resources: JsonObject }> }[]
  ).map(
    ({ workload, containers: { main } }) =>
      `${workload}:${main?.resources.replicas}/${main?.resources.replicasReady}`,
  );

describe("a deployment", () => {
  test("has the shape that the CLI reads", async () => {
    world = await createWorld();
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    expect(world.platform.deployments(key)).toMatchObject([
      {
        name: "aws-eu-1",
        kind: "deployment",
        status: {
          endpoint: "https://target-abc123.cpln.app",
          remote: "http://127.0.0.1:1",
          lastProcessedVersion: 1,
          expectedDeploymentVersion: 1,
          internal: {},
          ready: true,
          deploying: false,
          message: "",
          versions: [
            {
              workload: 1,
              gvc: 1,
              ready: true,
              containers: {
                main: {
                  name: "main",
                  image: "echo:1",
                  ready: true,
                  resources: { replicas: 1, replicasReady: 1, memory: 128 },
                  restarts: { count: 0 },
                },
              },
            },
          ],
        },
      },
    ]);
  });

  test("lists the old generation while it drains", async () => {
    world = await createWorld({ paused: true, graceMs: 10_000 });
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    world.suspend(key, true);
    expect(versionsOf(key)).toEqual(["2:0/0", "1:1/1"]);
    world.platform.switches.drainingReplicas = "listed";
    expect(versionsOf(key)).toEqual(["2:0/0", "1:1/0"]);
    world.suspend(key, false);
    await world.platform.when(key, (seen) => seen.ready === 1);
    expect(versionsOf(key)).toEqual(["3:1/1", "1:1/0"]);
    world.clock.advance(10_000);
    await world.platform.when(key, (seen) => seen.replicas.length === 1);
    expect(versionsOf(key)).toEqual(["3:1/1"]);
    expect(statusOf(key)).toMatchObject({ deploying: false, expectedDeploymentVersion: 3 });
  });

  test("where a flip moves no version, the draining generation has the same one", async () => {
    world = await createWorld({ paused: true, switches: { suspendMovesVersion: false } });
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    const hold = world.platform.holdBoot(key);
    world.suspend(key, true);
    world.suspend(key, false);
    await hold.reached;
    expect(statusOf(key)).toMatchObject({ lastProcessedVersion: 3, expectedDeploymentVersion: 1 });
    expect(versionsOf(key)).toEqual(["1:2/1"]);
    hold.release();
    await world.platform.when(key, (seen) => seen.ready === 1);
  });

  test.each([true, false])("of a suspended workload says ready: %s, as switched", async (suspendedReady) => {
    world = await createWorld({ switches: { suspendedReady } });
    const key = world.write("target", echoSpec(suspended));
    expect(statusOf(key)).toMatchObject({ ready: suspendedReady, deploying: false });
    expect(world.platform.workloadStatus(key).status).toMatchObject({
      suspendedStatus: "suspended",
      currentReplicaCount: 0,
    });
  });

  test("of a location scaled to 0/0 is not ready, and not suspended", async () => {
    world = await createWorld();
    const autoscaling = { metric: "disabled", minScale: 0, maxScale: 0 };
    const key = world.write("target", echoSpec({ defaultOptions: { autoscaling } }));
    expect(statusOf(key)).toMatchObject({ ready: false });
    expect(world.platform.workloadStatus(key).status).toMatchObject({ suspendedStatus: "notSuspended" });
  });

  test("lags as far as it is told to", async () => {
    world = await createWorld({ paused: true, switches: { statusLagMs: 60_000 } });
    const key = world.write("target", echoSpec(suspended));
    world.clock.advance(60_000);
    world.suspend(key, false);
    await world.platform.when(key, (seen) => seen.ready === 1);
    expect(statusOf(key)).toMatchObject({ lastProcessedVersion: 1 });
    world.clock.advance(59_999);
    expect(statusOf(key)).toMatchObject({ lastProcessedVersion: 1 });
    world.clock.advance(1);
    expect(statusOf(key)).toMatchObject({ lastProcessedVersion: 2, ready: true });
    expect(world.platform.workloadStatus(key).status).toMatchObject({ suspendedStatus: "notSuspended" });
  });

  test("is processed late where the platform reacts late", async () => {
    world = await createWorld({ paused: true, switches: { reactionMs: 2_000 } });
    const key = world.write("target", echoSpec());
    expect(world.platform.deployments(key)).toEqual([]);
    world.clock.advance(2_000);
    await world.platform.when(key, (seen) => seen.ready === 1);
  });

  test("is partly suspended where one location is", async () => {
    world = await createWorld({ locations: ["aws-eu-1", "gcp-us-2"] });
    const localOptions = [{ location: "//location/gcp-us-2", suspend: true }];
    const key = world.write("target", echoSpec({ localOptions }));
    await world.platform.when(key, (seen) => seen.ready === 1);
    expect(world.platform.workloadStatus(key)).toMatchObject({
      status: { suspendedStatus: "partiallySuspended", internalName: "target.shop.cpln.local" },
      health: { readyLocations: 1, totalLocations: 2, readyReplicas: 1, totalReplicas: 1, syncFailed: false },
    });
  });
});

describe("a workload's end", () => {
  test("its names go at once, its replicas in their ordinary way", async () => {
    world = await createWorld({ paused: true, graceMs: 10_000 });
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    const { address } = world.platform.impersonate(key);
    world.store.delete(key);
    expect(world.platform.deployments(key)).toEqual([]);
    expect(world.platform.resolve("target", address)).toBeUndefined();
    expect(world.platform.snapshot(key).draining).toBe(1);
    world.clock.advance(10_000);
    await world.platform.when(key, (seen) => seen.replicas.length === 0 && seen.version === undefined);
  });

  test("one of the same name may come while the old one drains", async () => {
    world = await createWorld({ paused: true });
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    world.store.delete(key);
    world.write("target", echoSpec());
    const seen = await world.platform.when(key, (now) => now.ready === 1);
    expect(seen.version).toBe(1);
  });
});
