import { readFileSync } from "node:fs";
import ts from "typescript";
import { test } from "vitest";
import { TRANSITIONS } from "../../proxy-image/src/core/phases.ts";
import { LOG_EVENTS } from "../../proxy-image/src/log/catalogue.ts";
import { strictSwitches as apiDefaults } from "../../simulator/src/api/switches.ts";
import { commands } from "../../simulator/src/control/commands.ts";
import { builtInImages } from "../../simulator/src/images/index.ts";
import { strictSwitches as platformDefaults } from "../../simulator/src/platform/settings.ts";
import { allSettings, type Setting } from "../../src/contract/catalogue.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { expectGenerated, table } from "../support/generated-docs.ts";

test("the state diagram is the core's own table", () => {
  const lines = TRANSITIONS.map(({ from, to, when }) => `  ${from} --> ${to}: ${when.replaceAll(":", " -")}`);
  const diagram = ["```mermaid", "stateDiagram-v2", "  [*] --> unknown", ...lines, "```"].join("\n");
  expectGenerated("how-it-works.md", "phases", diagram);
});

test("the settings are those of the catalogue", () => {
  const rows = allSettings().map((setting) => [
    `\`${setting.variable}\``,
    setting.scope === "platform" ? "injected" : code(setting.key),
    code(setting.argument),
    initially(setting),
    setting.meaning,
  ]);
  const head = ["variable", "key in `TARGET_n`", "argument", "default", "meaning"];
  expectGenerated("settings.md", "settings", table(head, rows));
});

test("the log lines are those of the catalogue", () => {
  const rows = Object.entries(LOG_EVENTS).map(([event, { level, fields, meaning }]) => [
    `\`${event}\``,
    level,
    fields.map(code).join(", ") || "–",
    meaning,
  ]);
  expectGenerated("logs.md", "events", table(["event", "level", "fields", "meaning"], rows));
});

test("the simulator's switches, commands and images are those that there are", () => {
  const apiSwitches = "simulator/src/api/switches.ts";
  const platformSwitches = "simulator/src/platform/settings.ts";
  expectGenerated("simulator.md", "api switches", switchTable(apiSwitches, "ApiSwitches", apiDefaults));
  expectGenerated(
    "simulator.md",
    "platform switches",
    switchTable(platformSwitches, "PlatformSwitches", platformDefaults),
  );
  const called = commands.map(({ method, path, help }) => [
    `\`${method} ${path}\``,
    help.replace(/\s+/g, " ").replaceAll("<", "&lt;"),
  ]);
  expectGenerated("simulator.md", "commands", table(["command", "what it does"], called));
  const images = builtInImages()
    .list()
    .map(({ description }) => `- ${description.replace(/:.*/, "")}`);
  expectGenerated("simulator.md", "images", images.join("\n"));
});

/** An interface's members with their comments, and the defaults given. */
function switchTable(file: string, name: string, defaults: object): string {
  const source = ts.createSourceFile(
    file,
    readFileSync(fromRoot(file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const found = source.statements.find(
    (statement): statement is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(statement) && statement.name.text === name,
  );
  const rows = (found?.members ?? []).map((member) => {
    const key = member.name?.getText() ?? "";
    const type = ts.isPropertySignature(member) ? (member.type?.getText() ?? "") : "";
    const comment = ts
      .getJSDocCommentsAndTags(member)
      .map((each) => ts.getTextOfJSDocComment(each.comment) ?? "");
    const value = String((defaults as Record<string, unknown>)[key]);
    return [
      `\`${key}\``,
      `\`${type.replaceAll('"', "")}\``,
      `\`${value}\``,
      comment.join(" ").replaceAll("\n", " ") || "–",
    ];
  });
  return table(["switch", "values", "default", "meaning"], rows);
}

function code(text: string | undefined): string {
  return text === undefined ? "–" : `\`${text}\``;
}

function initially(setting: Setting): string {
  if (setting.required) return "required";
  if (setting.otherwise !== undefined) return setting.otherwise;
  return "default" in setting && setting.default !== undefined ? `\`${setting.default}\`` : "–";
}
