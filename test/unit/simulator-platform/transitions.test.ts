import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LocationSpec } from "../../../simulator/src/platform/spec.ts";
import type { Command, PlatformEvent } from "../../../simulator/src/platform/transitions/events.ts";
import { balancedReplicas, meshReplicas } from "../../../simulator/src/platform/transitions/select.ts";
import { isLive, isReady, newLocation } from "../../../simulator/src/platform/transitions/state.ts";
import { step } from "../../../simulator/src/platform/transitions/step.ts";

/** A location whose commands a test answers by hand, in whatever order it likes. */
class Hand {
  state = newLocation("db", "aws-eu-1");
  now = 0;
  commands: Command[] = [];
  timers: { at: number; event: PlatformEvent }[] = [];

  send(event: PlatformEvent): this {
    const result = step(this.state, event, this.now, { crashBackoffMs: 10_000 });
    this.state = result.state;
    for (const command of result.commands) {
      if (command.type === "after")
        this.timers.push({ at: this.now + command.delayMs, event: command.event });
      else this.commands.push(command);
    }
    return this;
  }

  want(spec: Partial<LocationSpec>, suspendMovesVersion = true): this {
    return this.send({ type: "wanted", spec: { ...base, ...spec }, suspendMovesVersion });
  }

  /** Boots, starts and makes ready, as long as there is something of that kind to do. */
  bringUp(): this {
    for (let command = this.take("boot", "start"); command; command = this.take("boot", "start")) {
      const { replica } = command;
      if (command.type === "boot") this.send({ type: "booted", replica, closedPorts: [] });
      if (command.type === "start") {
        this.send({ type: "container-started", replica, container: command.container, hasReadiness: false });
      }
    }
    return this;
  }

  /** Ends the processes of what is to be killed. */
  release(): this {
    for (let command = this.take("kill"); command; command = this.take("kill")) {
      this.send({ type: "released", replica: command.replica });
    }
    return this;
  }

  advance(ms: number): this {
    const end = this.now + ms;
    for (;;) {
      const due = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers.splice(this.timers.indexOf(due), 1);
      this.now = Math.max(this.now, due.at);
      this.send(due.event);
    }
    this.now = end;
    return this;
  }

  take(...types: Command["type"][]): Exclude<Command, { type: "after" }> | undefined {
    const index = this.commands.findIndex(({ type }) => types.includes(type));
    return index < 0 ? undefined : (this.commands.splice(index, 1)[0] as Exclude<Command, { type: "after" }>);
  }

  get phases(): string[] {
    return this.state.replicas.map(
      (replica) => `${replica.generation}:${isReady(replica) ? "ready" : replica.phase}`,
    );
  }
}

const base: LocationSpec = {
  workloadVersion: 1,
  gvcVersion: 1,
  type: "standard",
  suspended: false,
  suspendedLocally: false,
  replicas: 1,
  template: "a",
  containers: [
    {
      name: "main",
      image: "i",
      ports: [],
      args: [],
      env: [],
      inheritEnv: false,
      memoryBytes: 1,
      volumes: [],
    },
  ],
  graceMs: 90_000,
  minReadyMs: 0,
  surge: 1,
  unavailable: 0,
  ordered: false,
};

const running = (spec: Partial<LocationSpec> = {}) => new Hand().want(spec).bringUp();

describe("suspend and un-suspend", () => {
  test("a suspended workload has no replicas; waking it makes a generation", () => {
    const hand = new Hand().want({ suspended: true });
    expect(hand.phases).toEqual([]);
    hand.want({ workloadVersion: 2 });
    expect(hand.phases).toEqual(["1:booting"]);
    expect(hand.bringUp().phases).toEqual(["1:ready"]);
  });

  test("suspending runs preStop and goes on answering until the grace period ends", () => {
    const hand = running().want({ workloadVersion: 2, suspended: true });
    expect(hand.take("pre-stop")).toMatchObject({ container: "main" });
    expect(meshReplicas(hand.state, 22, "until-grace-end")).toHaveLength(1);
    expect(meshReplicas(hand.state, 22, "withdrawn")).toHaveLength(0);
    expect(balancedReplicas(hand.state, 22, 9_999, 10_000)).toHaveLength(1);
    expect(balancedReplicas(hand.state, 22, 10_000, 10_000)).toHaveLength(0);
    hand.advance(89_999);
    expect(hand.phases).toEqual(["1:terminating"]);
    hand.advance(1);
    expect(hand.phases).toEqual(["1:killed"]);
    expect(meshReplicas(hand.state, 22, "until-grace-end")).toHaveLength(0);
    expect(hand.release().phases).toEqual([]);
  });

  test("waking it during the grace makes a second generation and saves nothing of the first", () => {
    const hand = running().want({ workloadVersion: 2, suspended: true }).want({ workloadVersion: 3 });
    expect(hand.phases).toEqual(["1:terminating", "2:booting"]);
    const generations = () =>
      meshReplicas(hand.state, 22, "until-grace-end").map(({ generation }) => generation);
    expect(generations()).toEqual([1]);
    hand.bringUp();
    expect(generations()).toEqual([2]);
    hand.advance(90_000).release();
    expect(hand.phases).toEqual(["2:ready"]);
  });

  test("suspending during a boot ends it at once", () => {
    const hand = new Hand().want({}).want({ workloadVersion: 2, suspended: true });
    expect(hand.phases).toEqual(["1:killed"]);
    expect(hand.release().phases).toEqual([]);
    expect(hand.take("pre-stop")).toBeUndefined();
  });

  test("0/0 in autoscaling is like a suspend", () => {
    const hand = running().want({ workloadVersion: 2, replicas: 0 });
    expect(hand.phases).toEqual(["1:terminating"]);
  });

  test("a flip of suspend alone moves the expected version, or not, as switched", () => {
    const moves = running().want({ workloadVersion: 2, suspended: true });
    expect(moves.state).toMatchObject({ expectedVersion: 2, processedVersion: 2 });
    const stays = running().want({ workloadVersion: 2, suspended: true }, false);
    expect(stays.state).toMatchObject({ expectedVersion: 1, processedVersion: 2 });
    stays.want({ workloadVersion: 3, template: "b" }, false);
    expect(stays.state.expectedVersion).toBe(3);
  });
});

describe("the end of a replica", () => {
  test("the stop signal follows a preStop that worked, one container at a time", () => {
    const two = [...base.containers, { ...base.containers[0], name: "side" }] as LocationSpec["containers"];
    const hand = running({ containers: two }).want({ containers: two, suspended: true });
    const replica = hand.state.replicas[0]?.id ?? "";
    hand.send({ type: "pre-stop-done", replica, container: "side", ok: true });
    expect(hand.take("signal")).toMatchObject({ container: "side" });
    expect(hand.take("signal")).toBeUndefined();
    hand.send({ type: "container-exited", replica, container: "side", exitCode: 0, reason: "Completed" });
    expect(hand.phases).toEqual(["1:terminating"]);
    hand.send({ type: "container-exited", replica, container: "main", exitCode: 0, reason: "Completed" });
    expect(hand.phases).toEqual(["1:killed"]);
  });

  test("one preStop that fails kills all containers at once", () => {
    const hand = running().want({ suspended: true });
    const replica = hand.state.replicas[0]?.id ?? "";
    hand.send({ type: "pre-stop-done", replica, container: "main", ok: false });
    expect(hand.phases).toEqual(["1:killed"]);
  });
});

describe("roll-outs", () => {
  test("with surge, the old replica stays until the new one is ready", () => {
    const hand = running().want({ workloadVersion: 2, template: "b" });
    expect(hand.phases).toEqual(["1:ready", "2:booting"]);
    expect(hand.bringUp().phases).toEqual(["1:terminating", "2:ready"]);
  });

  test("minReadySeconds makes the old one wait for longer", () => {
    const hand = running({ minReadyMs: 5_000 }).advance(5_000);
    hand.want({ workloadVersion: 2, template: "b", minReadyMs: 5_000 }).bringUp();
    expect(hand.phases).toEqual(["1:ready", "2:ready"]);
    expect(hand.advance(5_000).phases).toEqual(["1:terminating", "2:ready"]);
  });

  test("where one may be missing, the old one goes at once", () => {
    const hand = running().want({ workloadVersion: 2, template: "b", unavailable: 1, surge: 0 });
    expect(hand.phases).toEqual(["1:terminating", "2:booting"]);
  });

  test("with several replicas it goes within the surge", () => {
    const hand = running({ replicas: 3 }).want({ workloadVersion: 2, template: "b", replicas: 3 });
    expect(hand.phases).toEqual(["1:ready", "1:ready", "1:ready", "2:booting"]);
    hand.bringUp().advance(90_000).release();
    expect(hand.phases).toEqual(["2:ready", "2:ready", "2:ready"]);
  });

  test("one that cannot start leaves the old one alone", () => {
    const hand = running().want({ workloadVersion: 2, template: "b" });
    const replica = hand.take("boot")?.replica ?? "";
    hand.send({ type: "boot-failed", replica, failure: { kind: "image-pull" } });
    expect(hand.advance(3_600_000).phases).toEqual(["1:ready", "2:blocked"]);
    hand.send({ type: "unblocked" });
    expect(hand.bringUp().phases).toEqual(["1:terminating", "2:ready"]);
  });

  test("a stateful replica's successor waits until its processes are gone", () => {
    const stateful = { type: "stateful", surge: 0, unavailable: 1, ordered: true, replicas: 2 } as const;
    const hand = new Hand().want(stateful);
    expect(hand.phases).toEqual(["1:booting"]);
    hand.bringUp();
    expect(hand.state.replicas.map(({ name }) => name)).toEqual(["db-0", "db-1"]);
    hand.want({ ...stateful, workloadVersion: 2, template: "b" });
    expect(hand.phases).toEqual(["1:ready", "1:terminating"]);
    hand.advance(90_000);
    expect(hand.phases).toEqual(["1:ready", "1:killed"]);
    hand.release();
    expect(hand.phases).toEqual(["1:ready", "2:booting"]);
    hand.bringUp();
    expect(hand.phases).toEqual(["1:terminating", "2:ready"]);
  });

  test("a write that changes no template rolls nothing, and what runs goes by its version", () => {
    const hand = running().want({ workloadVersion: 7 });
    expect(hand.phases).toEqual(["1:ready"]);
    expect(hand.state.replicas[0]?.workloadVersion).toBe(7);
  });
});

describe("crashes", () => {
  test("restart at once, then after pauses that double", () => {
    const hand = running();
    const replica = hand.state.replicas[0]?.id ?? "";
    const crash = () =>
      hand.send({ type: "container-exited", replica, container: "main", exitCode: 1, reason: "Error" });
    crash();
    expect(hand.advance(0).take("start")).toBeDefined();
    for (const pauseMs of [10_000, 20_000, 40_000]) {
      hand.send({ type: "container-started", replica, container: "main", hasReadiness: false });
      crash();
      expect(hand.advance(pauseMs - 1).take("start")).toBeUndefined();
      expect(hand.advance(1).take("start")).toBeDefined();
    }
    expect(hand.state.replicas[0]?.containers[0]).toMatchObject({ restarts: 4, exitCode: 1 });
  });
});

test("whatever happens in whatever order, it comes to what the document says", () => {
  const action = fc.oneof(
    fc.record({
      act: fc.constant("want" as const),
      suspended: fc.boolean(),
      replicas: fc.integer({ min: 0, max: 3 }),
      template: fc.constantFrom("a", "b"),
    }),
    fc.record({ act: fc.constant("up" as const) }),
    fc.record({ act: fc.constant("release" as const) }),
    fc.record({ act: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 100_000 }) }),
    fc.record({
      act: fc.constant("hit" as const),
      how: fc.constantFrom("kill" as const, "stop" as const, "crash" as const),
      which: fc.nat(5),
    }),
  );
  fc.assert(
    fc.property(
      fc.constantFrom("standard", "stateful"),
      fc.array(action, { maxLength: 30 }),
      (type, actions) => {
        const shape = type === "stateful" ? { type, surge: 0, unavailable: 1, ordered: true } : { type };
        const hand = new Hand();
        let wanted: Partial<LocationSpec> = { ...shape };
        let version = 1;
        hand.want(wanted);
        for (const item of actions) {
          const { replicas } = hand.state;
          if (item.act === "want") {
            version += 1;
            const { suspended, template } = item;
            wanted = { ...shape, suspended, template, replicas: item.replicas, workloadVersion: version };
            hand.want(wanted);
          } else if (item.act === "up") hand.bringUp();
          else if (item.act === "release") hand.release();
          else if (item.act === "advance") hand.advance(item.ms);
          else {
            const replica = replicas[item.which]?.id;
            if (replica === undefined) continue;
            if (item.how === "crash") {
              hand.send({
                type: "container-exited",
                replica,
                container: "main",
                exitCode: 1,
                reason: "Error",
              });
            } else hand.send({ type: `${item.how}-replica`, replica });
          }
          // Never two of the same index at once, and never more than the surge allows.
          const live = hand.state.replicas.filter(isLive);
          if (type === "stateful") {
            expect(new Set(hand.state.replicas.map(({ index }) => index)).size).toBe(
              hand.state.replicas.length,
            );
          } else expect(live.length).toBeLessThanOrEqual(4);
        }
        for (let round = 0; round < 40; round += 1) hand.bringUp().advance(400_000).release();
        const count = wanted.suspended === true ? 0 : (wanted.replicas ?? 1);
        expect(hand.phases).toEqual(Array(count).fill(`${hand.state.generation?.number}:ready`));
      },
    ),
    { numRuns: 300 },
  );
});
