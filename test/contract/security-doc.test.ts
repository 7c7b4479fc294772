/** docs/security.md names tests and settings as its witnesses: each is there, by that name. */
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { allSettings } from "../../src/contract/catalogue.ts";
import { fromRoot } from "../../tools/lib/root.ts";

const text = readFileSync(fromRoot("docs", "security.md"), "utf8");
const cited = [...text.matchAll(/`(test\/[^`]+\.test\.ts)`\s+"([^"]+)"/g)].map(
  ([, path = "", name = ""]) => ({
    path,
    name,
  }),
);

it("names a test with every file of tests, and there are many", () => {
  expect(cited.length).toBeGreaterThan(30);
  expect(cited).toHaveLength([...text.matchAll(/`test\/[^`]+`/g)].length);
});

it.each(cited)("$path has “$name”", ({ path, name }) => {
  const source = readFileSync(fromRoot(path), "utf8");
  const titles = [...source.matchAll(/\b(?:it|test|describe)(?:\.[\w.]+)?(?:\([^()]*\))?\(\s*"([^"]+)"/g)];
  expect(titles.map(([, title]) => title)).toContain(name);
});

it("names settings and files that there are", () => {
  const variables = allSettings().map(({ variable }) => variable);
  for (const [, name] of text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)) expect(variables).toContain(name);
  for (const [, path = ""] of text.matchAll(/`((?:proxy-image|\.github)\/[^`]+)`/g)) {
    expect(existsSync(fromRoot(path)), path).toBe(true);
  }
});
