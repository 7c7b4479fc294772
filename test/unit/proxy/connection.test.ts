import { Socket } from "node:net";
import { expect, it } from "vitest";
import { DialQueue } from "../../../proxy-image/src/net/dial-queue.ts";
import { EarlyBudget } from "../../../proxy-image/src/net/early-budget.ts";
import { JsPlane } from "../../../proxy-image/src/net/js-plane.ts";
import { protocolOf } from "../../../proxy-image/src/probes/index.ts";
import { Connection, type Report } from "../../../proxy-image/src/runtime/connection.ts";
import { ManualClock } from "../../support/manual-clock.ts";

it("that waits for its turn to dial is taken back with the rest when its target ends", () => {
  const clock = new ManualClock();
  const dials = new DialQueue(1);
  dials.enter(() => {});
  const reports: Report[] = [];
  const connection = new Connection(new Socket(), {
    id: 1,
    address: { host: "127.0.0.1", port: 1 },
    settings: {
      maxHoldMs: 90_000,
      probeWindowMs: 2_000,
      holdEnd: "close",
      clientFin: "leave",
      earlyBytes: 16_384,
    },
    protocol: protocolOf({ readiness: { kind: "banner" }, target: 1 }, "localhost"),
    wakeOn: "connect",
    clock,
    plane: new JsPlane({ stallMs: 0, halfCloseMs: 0 }),
    dials,
    budget: new EarlyBudget(1_000_000),
    report: (report) => reports.push(report),
  });
  connection.connect();
  connection.recall(clock.now());
  expect(reports).toEqual([]);
  connection.recall(clock.now() + 1);
  expect(reports).toEqual([{ type: "returned", failure: "recalled" }]);
  expect(connection.stage).toBe("waiting");
  connection.cut();
});
