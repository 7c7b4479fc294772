import { afterEach, describe, expect, test } from "vitest";
import { functionImage, matchesName, pinnedNode, processImage } from "../../../simulator/src/images/index.ts";
import type { JsonObject, ResourceKey } from "../../../simulator/src/model.ts";
import type { FailureKind } from "../../../simulator/src/platform/index.ts";
import { createWorld, echoSpec, firstBytes, org, resource, type World } from "./world.ts";

let world: World;
afterEach(() => world.dispose());

const suspended = { defaultOptions: { suspend: true } };
const messageOf = (key: ResourceKey) => {
  const [deployment] = world.platform.deployments(key) as { status: { message: string } }[];
  return deployment?.status.message;
};

describe("a workload that does not come up", () => {
  test.each<[FailureKind, string, number]>([
    ["image-pull", "ErrImagePull", 1],
    ["quota", "quota", 0],
    ["unschedulable", "Unschedulable", 1],
    ["crash-loop", "CrashLoopBackOff", 1],
  ])("%s is said in its deployment, and over once cleared", async (kind, message, listed) => {
    world = await createWorld();
    const key = world.write("target", echoSpec(suspended));
    world.platform.fail(key, { kind });
    world.suspend(key, false);
    await world.platform.when(key, (seen) => seen.replicas[0]?.reason !== undefined);
    expect(messageOf(key)).toContain(message);
    expect(world.platform.deployments(key)).toMatchObject([{ status: { ready: false, deploying: true } }]);
    expect(world.platform.replicas(key, "aws-eu-1")).toHaveLength(listed);
    world.platform.clear(key);
    await world.platform.when(key, (seen) => seen.ready === 1);
    expect(messageOf(key)).toBe("");
  });

  test("an image that the catalogue does not hold cannot be pulled", async () => {
    world = await createWorld();
    const containers = [{ name: "main", image: "nobody/knows:1", ports: [] }];
    const key = world.write("target", echoSpec({ containers }));
    const { replicas } = await world.platform.when(key, (seen) => seen.replicas[0]?.phase === "blocked");
    expect(replicas[0]?.message).toContain('image "nobody/knows:1"');
  });

  test("a secret that is not there keeps it from starting until it is", async () => {
    world = await createWorld();
    const env = [{ name: "PASSWORD", value: "cpln://secret/db.password" }];
    const containers = [{ name: "main", image: "echo", ports: [], env }];
    const key = world.write("target", echoSpec({ containers }));
    await world.platform.when(key, (seen) => seen.replicas[0]?.phase === "blocked");
    expect(messageOf(key)).toContain('secret "db" not found');
    const secret = resource("secret", "db", 1, { type: "dictionary", data: { password: "hush" } });
    world.store.put({ org, kind: "secret", name: "db" }, secret);
    await world.platform.when(key, (seen) => seen.ready === 1);
  });

  test("one that is never ready serves nobody", async () => {
    world = await createWorld();
    const key = world.write("target", echoSpec(suspended));
    const { address } = world.platform.impersonate(key);
    world.platform.fail(key, { kind: "never-ready" });
    world.suspend(key, false);
    await world.platform.when(key, (seen) => seen.replicas[0]?.phase === "up");
    world.dial(key, 2022, address);
    await world.platform.when(key, (seen) => seen.connections({ outcome: "mute" }).length === 1);
    world.platform.clear(key);
    await world.platform.when(key, (seen) => seen.ready === 1);
    await firstBytes(world.dial(key, 2022, address));
  });
});

describe("a workload that falls over", () => {
  test("a killed replica is replaced, and its connections die", async () => {
    world = await createWorld();
    const key = world.write("target", echoSpec());
    const { address } = world.platform.impersonate(key);
    const [first] = (await world.platform.when(key, (seen) => seen.ready === 1)).replicas;
    const socket = world.dial(key, 2022, address);
    await firstBytes(socket);
    world.platform.killReplica(key);
    await world.platform.when(key, (seen) => seen.connections({ open: true }).length === 0);
    const { replicas } = await world.platform.when(key, (seen) => seen.ready === 1);
    expect(replicas[0]?.name).not.toBe(first?.name);
    expect(replicas[0]?.generation).toBe(1);
  });

  test("stopReplica ends one in the ordinary way, while another takes its place", async () => {
    world = await createWorld({ paused: true });
    const key = world.write("target", echoSpec());
    await world.platform.when(key, (seen) => seen.ready === 1);
    const [name = ""] = world.platform.replicas(key, "aws-eu-1");
    world.platform.stopReplica(key, "aws-eu-1", name);
    const seen = await world.platform.when(key, (now) => now.ready === 1 && now.draining === 1);
    expect(seen.replicas).toHaveLength(2);
    expect(() => world.platform.stopReplica(key, "aws-eu-1", "nobody")).toThrow("does not exist");
  });

  test("a preStop that fails costs everything its grace", async () => {
    const failing = functionImage({ name: "failing", run: (container) => container.onExec(() => 1) });
    world = await createWorld({ paused: true, more: [failing] });
    const lifecycle = { preStop: { exec: { command: ["drain"] } } };
    const key = world.write(
      "target",
      echoSpec({ containers: [{ name: "main", image: "failing", lifecycle }] }),
    );
    await world.platform.when(key, (seen) => seen.ready === 1);
    world.suspend(key, true);
    await world.platform.when(key, (seen) => seen.replicas.length === 0);
  });

  test("an image without a shell cannot run the platform's own preStop", async () => {
    const bare = functionImage({ name: "bare", hasShell: false, run: () => {} });
    world = await createWorld({ paused: true, more: [bare] });
    const key = world.write("target", echoSpec({ containers: [{ name: "main", image: "bare" }] }));
    await world.platform.when(key, (seen) => seen.ready === 1);
    world.suspend(key, true);
    await world.platform.when(key, (seen) => seen.replicas.length === 0);
    expect(world.platform.logs(key).map(({ text }) => text)).toContain(
      "preStop is missing or failed: all containers are killed at once",
    );
  });

  test("the stop signal follows preStop, and is the one that the switch says", async () => {
    const events: string[] = [];
    const polite = functionImage({
      name: "polite",
      run: (container) => {
        container.onExec(([command = ""]) => events.push(command) * 0);
        container.onSignal((signal) => {
          events.push(signal);
          container.exit(0);
        });
      },
    });
    world = await createWorld({ paused: true, more: [polite], switches: { stopSignal: "SIGTERM" } });
    const lifecycle = { preStop: { exec: { command: ["drain"] } } };
    const key = world.write(
      "target",
      echoSpec({ containers: [{ name: "main", image: "polite", lifecycle }] }),
    );
    await world.platform.when(key, (seen) => seen.ready === 1);
    world.suspend(key, true);
    await world.platform.when(key, (seen) => seen.replicas.length === 0);
    expect(events).toEqual(["drain", "SIGTERM"]);
  });

  test("the platform's own preStop sleeps through half the grace period", async () => {
    const signals: string[] = [];
    const sleeper = functionImage({
      name: "sleeper",
      run: (container) => container.onSignal((signal) => signals.push(signal)),
    });
    world = await createWorld({ paused: true, graceMs: 90_000, more: [sleeper] });
    const key = world.write("target", echoSpec({ containers: [{ name: "main", image: "sleeper" }] }));
    await world.platform.when(key, (seen) => seen.ready === 1);
    world.suspend(key, true);
    world.clock.advance(44_999);
    await Promise.resolve();
    expect(signals).toEqual([]);
    world.clock.advance(1);
    await new Promise(setImmediate);
    expect(signals).toEqual(["SIGINT"]);
  });

  test.runIf(process.platform === "linux")("a container above its memory is killed and says so", async () => {
    const greedy = processImage({
      description: "takes memory",
      matches: matchesName("greedy"),
      spec: {
        command: [
          pinnedNode(),
          "-e",
          "globalThis.kept = Buffer.alloc(200 * 2 ** 20, 1); setInterval(() => {}, 1e6);",
        ],
      },
    });
    world = await createWorld({ more: [greedy], memoryLimits: "enforce" });
    const key = world.write(
      "target",
      echoSpec({ containers: [{ name: "main", image: "greedy", memory: "128Mi" }] }),
    );
    await world.platform.when(key, (seen) => (seen.replicas[0]?.restarts ?? 0) >= 1);
    expect(world.platform.deployments(key)).toMatchObject([
      {
        status: {
          versions: [{ containers: { main: { restarts: { reason: "OOMKilled", exitCode: 137 } } } }],
        },
      },
    ]);
  });
});

describe("readiness", () => {
  const probe = { tcpSocket: { port: 2022 }, initialDelaySeconds: 10, periodSeconds: 5, failureThreshold: 2 };
  const specWith = (readinessProbe: JsonObject) =>
    echoSpec({
      containers: [
        { name: "main", image: "echo", ports: [{ number: 2022, protocol: "tcp" }], readinessProbe },
      ],
    });

  test("waits for the initial delay, on the platform's own time", async () => {
    world = await createWorld({ paused: true });
    const key = world.write("target", specWith(probe));
    await world.platform.when(key, (seen) => seen.replicas[0]?.containers[0]?.phase === "running");
    world.clock.advance(9_999);
    expect(world.platform.snapshot(key).ready).toBe(0);
    world.clock.advance(1);
    await world.platform.when(key, (seen) => seen.ready === 1);
  });

  test("is lost after so many failures, and found again", async () => {
    const answers: number[] = [0, 1, 1, 0];
    const asked: number[] = [];
    const moody = functionImage({
      name: "moody",
      run: (container) =>
        container.onExec(() => {
          asked.push(asked.length);
          return answers[asked.length - 1] ?? 0;
        }),
    });
    world = await createWorld({ more: [moody], probeTimeScale: 0.001 });
    const readinessProbe = { ...probe, tcpSocket: undefined, exec: { command: ["check"] } };
    const key = world.write(
      "target",
      echoSpec({ containers: [{ name: "main", image: "moody", readinessProbe }] }),
    );
    const readiness: boolean[] = [];
    await world.platform.when(key, (seen) => {
      const ready = seen.ready === 1;
      if (readiness.at(-1) !== ready) readiness.push(ready);
      return readiness.length === 4;
    });
    expect(readiness).toEqual([false, true, false, true]);
  });

  test("asks over HTTP, too", async () => {
    const web = functionImage({
      name: "web",
      run: (container) =>
        void container.listen(8081, (socket) => {
          socket.once("data", (request) => {
            const ok = request.toString().startsWith("GET /readyz ");
            socket.end(`HTTP/1.1 ${ok ? "200 OK" : "503 Busy"}\r\ncontent-length: 0\r\n\r\n`);
          });
        }),
    });
    world = await createWorld({ more: [web], probeTimeScale: 0.001 });
    const readinessProbe = { httpGet: { port: 8081, path: "/readyz" }, initialDelaySeconds: 1 };
    const key = world.write(
      "target",
      echoSpec({ containers: [{ name: "main", image: "web", readinessProbe }] }),
    );
    await world.platform.when(key, (seen) => seen.ready === 1);
  });
});
