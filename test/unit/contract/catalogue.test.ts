import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allSettings, SETTINGS, SETTINGS_VERSION } from "../../../src/contract/catalogue.ts";
import { parseDuration } from "../../../src/contract/durations.ts";
import { readValue } from "../../../src/contract/values.ts";

const repeated = (values: (string | undefined)[]) => {
  const given = values.filter((value) => value !== undefined);
  return given.filter((value, index) => given.indexOf(value) !== index);
};

describe("the catalogue", () => {
  it("calls each entry by its variable", () => {
    const named = Object.entries(SETTINGS).filter(([name]) => name !== "TARGET_N");
    expect(named.filter(([name, { variable }]) => name !== variable)).toEqual([]);
  });

  it("gives no name twice", () => {
    for (const field of ["variable", "key", "argument"] as const) {
      expect(repeated(allSettings().map((setting) => setting[field]))).toEqual([]);
    }
  });

  it("holds defaults and bounds that its own reader takes", () => {
    for (const setting of allSettings()) {
      if ("default" in setting && setting.default !== undefined) {
        expect(readValue(setting, setting.default), setting.variable).toMatchObject({ ok: true });
      }
      if (setting.kind === "duration") {
        for (const bound of [setting.min, setting.max]) expect(parseDuration(bound).ok).toBe(true);
      }
    }
  });

  it("says what each means and what happens without it", () => {
    for (const setting of allSettings()) {
      expect(setting.meaning, setting.variable).toMatch(/\.$/);
      const told = setting.required || setting.otherwise !== undefined || "default" in setting;
      expect(told, setting.variable).toBe(true);
    }
  });

  it("renders the edition that it reads", () => {
    expect(SETTINGS.SETTINGS_VERSION.default).toBe(SETTINGS_VERSION);
  });

  it("keeps the founding names and defaults", () => {
    const founding = Object.fromEntries(
      allSettings()
        .filter(({ variable }) =>
          /^(TARGET_(WORKLOAD|GVC|HOST)|PORT_MAPPINGS|IDLE_HOLD|MAX_HOLD|WAKE_.*|PROBE_WINDOW|HEALTH_PORT)$/.test(
            variable,
          ),
        )
        .map((setting) => [setting.variable, "default" in setting ? setting.default : undefined]),
    );
    expect(founding).toEqual({
      TARGET_WORKLOAD: undefined,
      TARGET_GVC: undefined,
      TARGET_HOST: undefined,
      PORT_MAPPINGS: undefined,
      IDLE_HOLD: "5m",
      MAX_HOLD: "90s",
      WAKE_TIMEOUT: "120s",
      WAKE_POLL_INTERVAL: "500ms",
      PROBE_WINDOW: "2s",
      HEALTH_PORT: 8081,
    });
  });
});

it("the contract is pure: it imports zod and itself alone", () => {
  const folder = new URL("../../../src/contract/", import.meta.url);
  const imported = readdirSync(folder).flatMap((file) =>
    [...readFileSync(new URL(file, folder), "utf8").matchAll(/ from "([^"]+)"/g)].map(([, from]) => from),
  );
  expect([...new Set(imported)].filter((from) => !/^(zod\/mini|\.\/[a-z-]+)$/.test(from ?? ""))).toEqual([]);
});
