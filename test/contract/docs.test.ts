import { test } from "vitest";
import { TRANSITIONS } from "../../proxy-image/src/core/phases.ts";
import { expectGenerated } from "../support/generated-docs.ts";

test("the state diagram is the core's own table", () => {
  const lines = TRANSITIONS.map(({ from, to, when }) => `  ${from} --> ${to}: ${when.replaceAll(":", " -")}`);
  const diagram = ["```mermaid", "stateDiagram-v2", "  [*] --> unknown", ...lines, "```"].join("\n");
  expectGenerated("how-it-works.md", "phases", diagram);
});
