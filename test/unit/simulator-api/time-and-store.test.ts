import { describe, expect, it } from "vitest";
import { newResource } from "../../../simulator/src/api/envelope.ts";
import type { ResourceChange, ResourceKey } from "../../../simulator/src/model.ts";
import { MemoryStore } from "../../../simulator/src/store/memory-store.ts";
import { SimulatorClock } from "../../../simulator/src/time/clock.ts";

describe("the clock", () => {
  it("runs timers in order of their time when moved", () => {
    const clock = new SimulatorClock({ paused: true, now: () => 1000 });
    const seen: string[] = [];
    clock.after(20, () => seen.push(`b@${clock.now()}`));
    clock.after(10, () => {
      seen.push(`a@${clock.now()}`);
      clock.after(5, () => seen.push(`nested@${clock.now()}`));
    });
    clock.after(20, () => seen.push("c"));
    const cancel = clock.after(15, () => seen.push("never"));
    cancel();
    clock.advance(9);
    expect(seen).toEqual([]);
    clock.advance(11);
    expect(seen).toEqual(["a@1010", "nested@1015", "b@1020", "c"]);
    expect(clock.now()).toBe(1020);
    expect(clock.pending).toBe(0);
  });

  it("stands still while paused, and goes on from there", () => {
    let machine = 0;
    const clock = new SimulatorClock({ now: () => machine });
    machine = 50;
    clock.pause();
    machine = 500;
    expect(clock.now()).toBe(50);
    clock.resume();
    machine = 510;
    expect(clock.now()).toBe(60);
    clock.advance(100);
    expect(clock.now()).toBe(160);
    clock.dispose();
  });

  it("fires by itself while running, but not what was cancelled", async () => {
    const clock = new SimulatorClock();
    const cancel = clock.after(0, () => expect.unreachable());
    cancel();
    await new Promise<void>((resolve) => void clock.after(1, resolve));
    expect(clock.phase).toBe("running");
    clock.dispose();
  });

  it("runs nothing once disposed", () => {
    const clock = new SimulatorClock({ paused: true });
    clock.after(1, () => expect.unreachable());
    clock.dispose();
    clock.after(1, () => expect.unreachable());
    clock.advance(10);
    expect(clock.pending).toBe(0);
  });
});

describe("the store", () => {
  const key: ResourceKey = { org: "o", kind: "workload", gvc: "g", name: "one" };
  const document = (name: string) => newResource("workload", name, { spec: { deep: { value: 1 } } }, 0);

  it("tells changes in order, with both sides", () => {
    const store = new MemoryStore();
    const changes: ResourceChange[] = [];
    const stop = store.subscribe((change) => changes.push(change));
    const first = document("one");
    store.put(key, first);
    store.put(key, { ...first, version: 2 });
    store.delete(key);
    store.delete(key);
    stop();
    store.put(key, first);
    expect(changes.map(({ type, before, after }) => [type, before?.version, after?.version])).toEqual([
      ["created", undefined, 1],
      ["updated", 1, 2],
      ["deleted", 2, undefined],
    ]);
  });

  it("keeps what it was given, whatever becomes of the giver's copy", () => {
    const store = new MemoryStore();
    const given = document("one");
    store.put(key, given);
    given.name = "changed";
    const kept = store.get(key);
    expect(kept?.name).toBe("one");
    expect(Object.isFrozen(kept?.spec)).toBe(true);
  });

  it("lists one GVC, or all of them, by name", () => {
    const store = new MemoryStore();
    for (const [gvc, name] of [
      ["g2", "a"],
      ["g1", "b"],
      ["g1", "a"],
    ] as const) {
      store.put({ ...key, gvc, name }, document(name));
    }
    const names = (gvc?: string) =>
      store
        .list({ org: "o", kind: "workload", ...(gvc ? { gvc } : {}) })
        .map((entry) => [entry.key.name, entry.key.gvc]);
    expect(names()).toEqual([
      ["a", "g1"],
      ["a", "g2"],
      ["b", "g1"],
    ]);
    expect(names("g1")).toEqual([
      ["a", "g1"],
      ["b", "g1"],
    ]);
    expect(store.list({ org: "other", kind: "workload" })).toEqual([]);
  });
});
