import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { KINDS, OPTIONS } from "../../src/contract/readiness.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { expectGenerated, table } from "../support/generated-docs.ts";
import { realServers } from "../support/servers/index.ts";

const code = (text: string) => `\`${text}\``;

test("the kinds and their options are those of the contract", () => {
  const kinds = Object.entries(KINDS).map(([kind, { meaning, first, atOnce, fits, options }]) => [
    code(kind),
    meaning,
    first === "unknown" ? "either" : first === "server" && atOnce ? "both" : first,
    atOnce && fits ? "`fitting`" : "`connect`",
    options.map(code).join(", ") || "–",
  ]);
  const head = ["kind", "the proof", "who speaks first", "the component's `wakeOn`", "options"];
  expectGenerated("protocols.md", "kinds", table(head, kinds));
  const options = Object.entries(OPTIONS).map(([name, option]) => {
    const fallback = (option as { default?: string | number }).default;
    return [code(name), option.meaning, fallback === undefined ? "–" : code(String(fallback))];
  });
  expectGenerated("protocols.md", "options", table(["option", "meaning", "default"], options));
});

test("the servers are those of the catalogue, and CI installs their packages", () => {
  const kindOf = (readiness: unknown) => (readiness as { kind?: string }).kind ?? String(readiness);
  const rows = realServers.map(({ server, client, packages, ports }) => [
    server,
    client,
    ports.map(({ readiness }) => code(kindOf(readiness))).join(", "),
    packages.map(code).join(", "),
  ]);
  expectGenerated("protocols.md", "servers", table(["server", "client", "kind", "Debian packages"], rows));
  const ci = readFileSync(fromRoot(".ci", "run"), "utf8");
  const names = realServers.flatMap(({ packages }) => packages);
  expect(names.filter((name) => !new RegExp(`[ (]${name}\\b`).test(ci))).toEqual([]);
});

test("every kind has a row that says what is asked", () => {
  const page = readFileSync(fromRoot("docs", "protocols.md"), "utf8");
  const asked = page.slice(page.indexOf("## What is asked"), page.indexOf("## Warm clients"));
  const rows = [...asked.matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind);
  expect(rows).toEqual(Object.keys(KINDS));
});
