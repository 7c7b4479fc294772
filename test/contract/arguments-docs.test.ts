/** The reference of arguments is made of the comments beside them, and each comment says what it has to. */
import { describe, expect, it } from "vitest";
import { type Documented, documentedIn } from "../support/doc-comments.ts";
import { expectGenerated, table } from "../support/generated-docs.ts";

const documented = ["args", "target-args", "choices"].flatMap((name) => documentedIn(`src/${name}.ts`));
const named = (name: string) => documented.find((each) => each.name === name) as Documented;
// What a program writes first comes first.
const order = ["ScaleToZeroTcpArgs", "PortArgs", "TargetArgs", "ReadinessArgs"];
const sections = [...order.map(named), ...documented.filter(({ name }) => !order.includes(name))];

function section({ name, text, members }: Documented): string {
  const rows = members.map((member) =>
    member.type === ""
      ? [`\`${member.name}\``, member.text || "–"]
      : [`\`${member.name}\`${member.optional ? "" : " (required)"}`, `\`${member.type}\``, member.text],
  );
  const head = members[0]?.type === "" ? ["value", "meaning"] : ["argument", "type", "meaning"];
  return [`## ${name}`, text, table(head, rows)].join("\n\n");
}

it("is what the comments say", () => {
  expectGenerated("arguments.md", "arguments", sections.map(section).join("\n\n"));
});

describe.each(order.map((name) => ({ name, members: named(name).members })))(
  "every argument of $name",
  ({ members }) => {
    it.each(members)("$name says what it means, and what it is without", ({ text, optional }) => {
      expect(text.length).toBeGreaterThan(20);
      if (optional) expect(text).toMatch(/default|Default|Required|^With /);
    });
  },
);
