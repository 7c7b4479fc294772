import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkArgs } from "../../src/checks.ts";
import { allSettings, SETTINGS, type Setting } from "../../src/contract/catalogue.ts";
import { formatDuration } from "../../src/contract/durations.ts";
import { formatProblem, MAX_VALUE_LENGTH, parseEnvironment } from "../../src/contract/environment.ts";
import type { PlainArgs } from "../../src/plain-args.ts";
import { renderSettings } from "../../src/proxy-settings.ts";
import { valueOfSetting } from "../support/settings-arbitrary.ts";

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** What the platform injects into the proxy. */
const injected = {
  CPLN_ENDPOINT: "http://api.cpln.io",
  CPLN_ORG: "acme",
  CPLN_GVC: "another-gvc",
  CPLN_WORKLOAD: "/org/acme/gvc/another-gvc/workload/sftp-proxy",
  CPLN_LOCATION: "/org/acme/location/aws-us-west-2",
  CPLN_TOKEN: "s3cret-token",
};

const settable = allSettings().filter(
  (setting) =>
    setting.argument !== undefined &&
    ["duration", "integer", "choice"].includes(setting.kind) &&
    !["terminationGracePeriodSeconds", "healthPort"].includes(setting.argument),
);

/** As a user writes it: durations as text. */
const written = (setting: Setting): fc.Arbitrary<string | number> =>
  valueOfSetting(setting).map((value) =>
    setting.kind === "duration" && typeof value === "number" ? formatDuration(value) : value,
  );

const mapping = fc.record(
  {
    port: fc.integer({ min: 22, max: 32_768 }),
    target: fc.integer({ min: 80, max: 65_535 }),
    listen: fc.integer({ min: 80, max: 65_535 }),
  },
  { requiredKeys: ["port", "target"] },
);

const targetName = fc.constantFrom(
  "sftp",
  "w".repeat(49),
  "//gvc/data/workload/db",
  "/org/acme/gvc/data/workload/db",
);

/** What a target may say for itself. */
const own = ["idleHold", "maxHold", "wakeTimeout", "maxHeld", "maxConnections"];
const oneOfSeveral = fc.record(
  {
    target: targetName,
    ports: fc.array(mapping, { minLength: 1, maxLength: 3 }),
    targetGvc: fc.constantFrom("prod", "data"),
    targetHost: fc.constantFrom("127.0.0.1", "db.internal"),
    ...Object.fromEntries(
      settable
        .filter(({ argument = "" }) => own.includes(argument))
        .map((setting) => [setting.argument ?? "", written(setting)]),
    ),
  },
  { requiredKeys: ["target", "ports"] },
);

const args: fc.Arbitrary<PlainArgs> = fc
  .record(
    {
      gvc: fc.constantFrom("prod", "g".repeat(63)),
      form: fc.oneof(
        fc.record(
          {
            target: targetName,
            ports: fc.array(mapping, { minLength: 1, maxLength: 8 }),
            targetHost: fc.constantFrom("127.0.0.1", "db.internal"),
          },
          { requiredKeys: ["target", "ports"] },
        ),
        fc.record({ targets: fc.array(oneOfSeveral, { minLength: 1, maxLength: 4 }) }),
      ),
      allow: fc.constant(["0.0.0.0/0"]),
      terminationGracePeriodSeconds: fc.integer({ min: 20, max: 900 }),
      healthPort: fc.integer({ min: 80, max: 65_535 }),
      ...Object.fromEntries(settable.map((setting) => [setting.argument ?? "", written(setting)])),
    },
    { requiredKeys: ["gvc", "form", "allow"] },
  )
  .map(({ form, ...drawn }) => ({ ...drawn, ...(form as object) }) as unknown as PlainArgs);

type Values = Record<string, string | number | undefined>;

describe("what the component renders", () => {
  it("the proxy reads as what the arguments say", () => {
    const accepted = { one: 0, several: 0 };
    fc.assert(
      fc.property(args, (given) => {
        // Random ports collide at times: then a preview says so, and nothing is rendered.
        if (checkArgs("sftp", given).length > 0) return;
        accepted[given.targets ? "several" : "one"] += 1;
        const rendered = renderSettings(given);
        if (!rendered.ok) throw new Error(rendered.problems.map(formatProblem).join("\n"));
        const parsed = parseEnvironment({ ...injected, ...rendered.environment });
        if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join("\n"));

        const asked = given.targets ?? [given];
        expect(parsed.settings.targets).toHaveLength(asked.length);
        const listens = parsed.settings.targets.flatMap(({ ports }) => ports.map(({ listen }) => listen));
        expect(listens).toEqual(rendered.listens);
        parsed.settings.targets.forEach((target, index) => {
          const each = asked[index] ?? given;
          const linked = each.target.startsWith("/");
          expect(target).toMatchObject({
            workload: linked ? "db" : each.target,
            gvc: each.targetGvc ?? (linked ? "data" : given.gvc),
            host: each.targetHost ?? `${target.workload}.${target.gvc}.cpln.local`,
          });
          expect(target.ports.map((port) => port.target)).toEqual(each.ports.map((port) => port.target));
          each.ports.forEach(({ listen }, at) => {
            if (listen !== undefined) expect(target.ports[at]?.listen).toBe(listen);
          });
          for (const setting of settable) {
            const name = setting.argument ?? "";
            const value = (each as unknown as Values)[name] ?? (given as unknown as Values)[name];
            if (value === undefined) continue;
            const flat: Record<string, unknown> = { ...target, ...parsed.settings };
            const read =
              setting.kind === "duration" ? formatDuration(flat[`${name}Ms`] as number) : flat[name];
            expect(read, name).toBe(value);
          }
        });
        const grace = (given.terminationGracePeriodSeconds ?? 90) * 1000;
        expect(parsed.settings.ownGraceMs).toBe(grace);
        if (given.drainTimeout === undefined)
          expect(parsed.settings.drainTimeoutMs).toBe(Math.max(grace - 15_000, grace / 2));
        expect(parsed.settings.healthPort).toBe(given.healthPort ?? 8081);
      }),
      { numRuns: 500 },
    );
    expect(accepted.one).toBeGreaterThan(50);
    expect(accepted.several).toBeGreaterThan(50);
  });

  it("fits the variables of the platform, for as many ports as a service has", () => {
    const ports = Array.from({ length: 60 }, (_, index) => ({
      port: 20_000 + index,
      target: 50_000 + index,
    }));
    const given: PlainArgs = { gvc: "g".repeat(63), target: "w".repeat(49), ports, allow: ["0.0.0.0/0"] };
    const rendered = renderSettings(given);
    expect(
      rendered.ok && Math.max(...Object.values(rendered.environment).map((each) => each.length)),
    ).toBeLessThan(MAX_VALUE_LENGTH);
  });
});

describe("the arguments' own words", () => {
  const source = text("src/args.ts");
  const comments = new Map(
    [...source.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(\w+)\?: /g)].map(([, comment, name]) => [
      name,
      (comment ?? "").replace(/\s*\*\s*/g, " "),
    ]),
  );

  it.each(settable.map((setting) => [setting.argument ?? "", setting] as const))(
    "%s: its default",
    (name, setting) => {
      const comment = comments.get(name) ?? "";
      const value = "default" in setting ? setting.default : undefined;
      if (name !== "drainTimeout") expect(comment).toMatch(/default|Default|\(default\)/);
      if (value !== undefined) expect(comment).toContain(String(value));
    },
  );

  it("there is one for every setting that an argument sets", () => {
    for (const { argument } of allSettings()) {
      if (argument !== undefined) expect(source).toMatch(new RegExp(`^  ${argument}\\??: `, "m"));
    }
  });

  it("the health port is the founding one", () => {
    expect(comments.get("healthPort")).toContain(String(SETTINGS.HEALTH_PORT.default));
  });
});
