import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allSettings } from "../../../src/contract/catalogue.ts";
import { formatProblem, parseEnvironment, renderEnvironment } from "../../../src/contract/environment.ts";
import { settingsArbitrary } from "../../support/settings-arbitrary.ts";

const injected = {
  CPLN_ENDPOINT: "http://api.cpln.io",
  CPLN_ORG: "acme",
  CPLN_GVC: "prod",
  CPLN_TOKEN: "s3cret-token",
};

describe("settings", () => {
  it("rendered and parsed are the same settings", () => {
    fc.assert(
      fc.property(settingsArbitrary, (settings) => {
        const parsed = parseEnvironment({ ...injected, ...renderEnvironment(settings) });
        expect(parsed.ok ? [] : parsed.problems.map(formatProblem)).toEqual([]);
        if (!parsed.ok) return;
        const { platform: _, ...back } = parsed.settings;
        expect(back).toEqual(settings);
      }),
    );
  });

  it("at their defaults render to nothing but the target and the edition", () => {
    const parsed = parseEnvironment({ ...injected, TARGET_WORKLOAD: "sftp", PORT_MAPPINGS: "22:2022" });
    expect(parsed.ok && renderEnvironment(parsed.settings)).toEqual({
      SETTINGS_VERSION: "1",
      TARGET_1: '{"workload":"sftp","gvc":"prod","ports":[{"listen":22,"target":2022}]}',
    });
  });
});

describe("any environment", () => {
  const variables = [...allSettings().map(({ variable }) => variable), "TARGET_1", "TARGET_2", "TARGET_0"];
  const value = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom("5m", "0s", "2022", "2022:22", "1", "close", "/org/o/gvc/g/workload/w", "http://x"),
  );
  const environment = fc.dictionary(fc.constantFrom(...variables), value);

  it("is either settings or problems, each with a name and on one line", () => {
    fc.assert(
      fc.property(environment, (env) => {
        const parsed = parseEnvironment(env);
        if (parsed.ok) return;
        expect(parsed.problems.length).toBeGreaterThan(0);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        for (const each of parsed.problems) expect(formatProblem(each)).toMatch(/^[A-Z][^\u0000-\u001f]*$/);
      }),
      { numRuns: 500 },
    );
  });

  it("never shows the token", () => {
    fc.assert(
      fc.property(environment, (env) => {
        const parsed = parseEnvironment({ ...env, CPLN_TOKEN: "hush hush-4711" });
        expect(JSON.stringify(parsed.ok ? "" : parsed.problems)).not.toContain("hush-4711");
      }),
    );
  });
});
