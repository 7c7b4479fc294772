import { test } from "vitest";
import { type Story, tell } from "../../support/core-world.ts";

/** Stories that chance found once: each says what a law has to allow for. What the core did wrong is in the scenarios. */

const settings: Story["settings"] = {
  seed: 3,
  config: {
    ports: [22],
    idleHoldMs: 3_000,
    wakeTimeoutMs: 8_000,
    wakePollIntervalMs: 500,
    probeWindowMs: 300,
    watchIntervalMs: 15_000,
    ownGraceMs: undefined,
    targets: 1,
  },
  runtime: {
    maxHoldMs: 12_000,
    dials: 1,
    slowBanners: 0,
    bytesSpent: 0,
    strayFailures: 0,
    strangers: 0,
    lanes: 0,
  },
  platform: { latencyMs: 2_000, refusesVersion: false, mutesVersion: false, staleReads: 0 },
  target: { nobody: "silent", readyWhileDraining: false, unreadyMs: 0, unreadyWhileDraining: false },
  boots: { delaysMs: [5_685, 0], fails: undefined },
  suspended: false,
  graceMs: 5_000,
};

const visit = { what: "arrive", port: 0, clients: 1, patienceMs: 1e9, sessionMs: 0 } as const;

test("a grace that is made longer while a suspend is in doubt counts from the read that shows it", () => {
  tell({
    settings,
    happenings: [
      { ...visit, waitMs: 73_314 },
      {
        what: "fault",
        waitMs: 2_000,
        of: "writes",
        fault: { kind: "timeout", retryAfterMs: undefined, landing: "late", lateMs: 10_180 },
        forMs: 50_000,
      },
      { ...visit, waitMs: 13_250, afterIdle: true },
      { ...visit, waitMs: 20_340, patienceMs: 6_699 },
      { what: "grace", waitMs: 1_699, graceMs: 5_180 },
    ],
    ending: "clients",
  });
});
