/** Pages about the component whose tables are the data that its tests run on. */
import { test } from "vitest";
import { CHECKS } from "../../src/preflight/catalogue.ts";
import { expectGenerated, table } from "../support/generated-docs.ts";
import { deployerNeeds } from "../support/permissions.ts";
import { cells, outcome } from "../support/suspend-cells.ts";

test("what Pulumi makes of the proxy's flips is what was tried", () => {
  const rows = cells.map((cell) => [
    `\`${cell.way}\``,
    `\`${cell.operation}\``,
    cell.change ? "yes" : "no",
    outcome(cell, "suspended"),
    outcome(cell, "connected"),
  ]);
  const head = ["way", "operation", "target changed too", "while suspended", "while a client is connected"];
  expectGenerated("drift.md", "cells", table(head, rows));
});

test("what a deployer needs is what was granted", () => {
  const rows = deployerNeeds.map(({ kind, permission, phase, why }) => [
    kind,
    `\`${permission}\``,
    phase,
    why,
  ]);
  expectGenerated("permissions.md", "deployer", table(["kind", "permission", "needed to", "for"], rows));
});

test("the preflight checks are those of the catalogue", () => {
  const rows = Object.values(CHECKS).map(({ level, subject, remedy }) => [subject, level, remedy]);
  expectGenerated("troubleshooting.md", "preflight", table(["looked at", "otherwise", "what to do"], rows));
});
