import fc from "fast-check";
import type { CallPoint, Fault } from "./core-platform.ts";
import type { Boots } from "./core-target.ts";
import { CALL_FAILURES, type Happening, type Story, type WorldSettings } from "./core-world.ts";

/** Stories for the world around the core, as fast-check makes and shrinks them. */

const shortly = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 600 }) },
  { weight: 4, arbitrary: fc.integer({ min: 600, max: 8_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 8_000, max: 40_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 40_000, max: 150_000 }) },
);

const boots: fc.Arbitrary<Boots> = fc.record({
  delaysMs: fc.tuple(fc.integer({ min: 0, max: 15_000 }), fc.integer({ min: 0, max: 25_000 })),
  fails: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom("image_pull", "crash_loop", "quota", "unschedulable") },
  ),
});

const fault: fc.Arbitrary<Fault> = fc.record({
  kind: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom("server", "timeout", "broken") },
    { weight: 1, arbitrary: fc.constantFrom(...CALL_FAILURES) },
  ),
  retryAfterMs: fc.constantFrom(undefined, undefined, 2_000, 90_000),
  landing: fc.constantFrom("never", "unseen", "late"),
  lateMs: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 5_000 }) },
    { weight: 3, arbitrary: fc.integer({ min: 5_000, max: 28_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 28_000, max: 120_000 }) },
  ),
});

const arrive = fc.record({
  what: fc.constant("arrive"),
  waitMs: shortly,
  port: fc.nat(1),
  clients: fc.oneof(
    { weight: 4, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 6 }) },
  ),
  patienceMs: fc.oneof(fc.constant(1e9), fc.integer({ min: 0, max: 12_000 })),
  sessionMs: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 3_000, max: 60_000 })),
} as const);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 12, arbitrary: arrive },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant("leave"), waitMs: shortly, which: fc.nat(9) } as const),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constant("fault"),
      waitMs: shortly,
      of: fc.constantFrom("reads", "writes", "writes", "statuses", "all"),
      fault,
      forMs: fc.oneof(fc.integer({ min: 10, max: 3_000 }), fc.integer({ min: 3_000, max: 60_000 })),
    } as const),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constantFrom("suspend", "unsuspend", "edit", "heal"),
      waitMs: shortly,
    } as const),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("remove"), waitMs: shortly } as const) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant("create"), waitMs: shortly, suspended: fc.boolean() } as const),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant("mode"),
      waitMs: shortly,
      mode: fc.constantFrom("normal", "paused", "always-on"),
    } as const),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant("scaler"),
      waitMs: shortly,
      scaler: fc.constantFrom(undefined, "keda"),
    } as const),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant("grace"),
      waitMs: shortly,
      graceMs: fc.integer({ min: 0, max: 60_000 }),
    } as const),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("boots"), waitMs: shortly, boots } as const) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant("status"),
      waitMs: shortly,
      lagMs: fc.constantFrom(0, 30_000),
      readable: fc.boolean(),
    } as const),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant("freeze"),
      waitMs: shortly,
      forMs: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 3_000, max: 200_000 })),
    } as const),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant("restart"), waitMs: shortly, crash: fc.boolean() } as const),
  },
);

const settings: fc.Arbitrary<WorldSettings> = fc.record({
  seed: fc.nat(),
  config: fc.record({
    ports: fc.constantFrom([22], [22, 80]),
    idleHoldMs: fc.constantFrom(3_000, 10_000, 40_000),
    wakeTimeoutMs: fc.constantFrom(8_000, 30_000),
    wakePollIntervalMs: fc.constantFrom(500, 1_000),
    probeWindowMs: fc.constantFrom(300, 2_000),
    watchIntervalMs: fc.constant(15_000),
    ownGraceMs: fc.constantFrom(undefined, 30_000),
    targets: fc.constantFrom(1, 10),
  }),
  runtime: fc.record({
    maxHoldMs: fc.constantFrom(12_000, 30_000),
    dials: fc.constantFrom(1, 4),
    slowBanners: fc.constantFrom(0, 0.05),
    bytesSpent: fc.constantFrom(0, 0, 0.5),
    strayFailures: fc.constantFrom(0, 0, 0.03),
    strangers: fc.constantFrom(0, 0, 0.3),
    lanes: fc.constantFrom(0, 0.5, 1),
  }),
  platform: fc.record({
    latencyMs: fc.constantFrom(5, 200, 2_000),
    refusesVersion: fc.constantFrom(false, false, false, false, true),
    mutesVersion: fc.constantFrom(false, false, true),
    staleReads: fc.constantFrom(0, 0, 0.2),
  }),
  target: fc.record({
    nobody: fc.constantFrom("silent", "silent", "closed", "reset", "refused"),
    readyWhileDraining: fc.boolean(),
    unreadyMs: fc.constantFrom(0, 0, 1_500, 4_000),
    unreadyWhileDraining: fc.boolean(),
  }),
  boots,
  suspended: fc.boolean(),
  graceMs: fc.constantFrom(0, 5_000, 30_000),
});

const CALL_POINTS: readonly CallPoint[] = [
  "suspend sent",
  "suspend applied",
  "suspend told",
  "un-suspend sent",
  "un-suspend applied",
  "un-suspend told",
  "read sent",
  "read told",
];

/** Situations that chance alone brings about too seldom, each with its details left to chance. */
const scene: fc.Arbitrary<Happening[]> = fc.oneof(
  // A suspend of unknown outcome that lands late, with a client in between.
  fc
    .tuple(shortVisit(), fault, fc.integer({ min: 100, max: 4_000 }), arrive)
    .map(([visit, trouble, waitMs, client]): Happening[] => [
      visit,
      { what: "fault", waitMs: 2_000, of: "writes", fault: { ...trouble, kind: "timeout" }, forMs: 50_000 },
      {
        ...client,
        afterIdle: true,
        waitMs: trouble.landing === "late" ? 13_000 + waitMs : waitMs,
        patienceMs: 1e9,
      },
    ]),
  // A client that comes while the replicas of before still drain.
  fc
    .tuple(shortVisit(), arrive)
    .map(([visit, client]): Happening[] => [
      visit,
      { ...client, afterIdle: true, waitMs: client.waitMs % 4_000, patienceMs: 1e9 },
    ]),
  // Somebody insists on a suspend under a session.
  fc.tuple(arrive, fc.integer({ min: 5_000, max: 40_000 })).map(([client, waitMs]): Happening[] => [
    { ...client, patienceMs: 1e9, sessionMs: 1e9 },
    { what: "suspend", waitMs },
    { ...client, waitMs: 2_000, patienceMs: 1e9, sessionMs: 1e9 },
    { what: "suspend", waitMs },
  ]),
  // Somebody suspends and wakes it, and a client comes in between.
  fc
    .tuple(shortVisit(), fc.integer({ min: 0, max: 3_000 }), arrive)
    .map(([visit, waitMs, client]): Happening[] => [
      visit,
      { what: "grace", waitMs: 1_000, graceMs: 0 },
      { what: "suspend", waitMs: 1_000 },
      { ...client, waitMs: 100, patienceMs: 1e9 },
      { what: "unsuspend", waitMs },
    ]),
  // Whatever it is, in the middle of a call.
  fc
    .array(fc.tuple(fc.constantFrom(...CALL_POINTS), fc.integer({ min: 0, max: 40 }), happening), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) =>
      parts.map(([afterPoint, waitMs, event]): Happening => ({ ...event, waitMs, afterPoint })),
    ),
  // A target that can't come, and clients that keep asking.
  fc
    .tuple(boots, fc.integer({ min: 1_000, max: 9_000 }), arrive)
    .map(([next, waitMs, client]): Happening[] => [
      { what: "boots", waitMs: 0, boots: { ...next, fails: next.fails ?? "crash_loop" } },
      { ...client, afterIdle: true },
      ...[1, 2, 3].map((): Happening => ({ ...client, waitMs })),
    ]),
);

function shortVisit() {
  return fc.record({
    what: fc.constant("arrive"),
    waitMs: shortly,
    port: fc.nat(1),
    clients: fc.constant(1),
    patienceMs: fc.constant(1e9),
    sessionMs: fc.integer({ min: 0, max: 1_000 }),
  } as const);
}

export const stories: fc.Arbitrary<Story> = fc.record({
  settings,
  happenings: fc
    .array(
      fc.oneof({ weight: 6, arbitrary: happening.map((one) => [one]) }, { weight: 1, arbitrary: scene }),
      { minLength: 1, maxLength: 24, size: "max" },
    )
    .map((parts) => parts.flat()),
  ending: fc.constantFrom("clients", "quiet"),
});
