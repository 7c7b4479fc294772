/** Settings of every shape that a proxy may be given, for properties. */
import fc from "fast-check";
import { SETTINGS, type Setting } from "../../src/contract/catalogue.ts";
import { parseDuration } from "../../src/contract/durations.ts";
import { defaultHost } from "../../src/contract/links.ts";
import { KINDS, type ReadinessKind, WAKE_ON } from "../../src/contract/readiness.ts";
import { deadlock, readReadiness } from "../../src/contract/readiness-grammar.ts";
import type { ProxySettings, TargetSettings } from "../../src/contract/settings.ts";
import { TUNABLES } from "../../src/contract/targets.ts";
import { defaultOf } from "../../src/contract/values.ts";

const ms = (text: string): number => {
  const parsed = parseDuration(text);
  return parsed.ok ? parsed.ms : Number.NaN;
};

/** A value within the bounds of its entry; the bounds themselves and the default come often. */
export function valueOfSetting(setting: Setting): fc.Arbitrary<string | number> {
  switch (setting.kind) {
    case "duration":
      return fc.integer({ min: Math.max(1, ms(setting.min)), max: ms(setting.max) });
    case "integer":
      return fc.integer({ min: setting.min, max: setting.max });
    case "choice":
      return fc.constantFrom(...setting.values);
    default:
      throw new Error(`no values for ${setting.variable}`);
  }
}

const letters = "abcdefghijklmnopqrstuvwxyz";
const letter = fc.constantFrom(...letters);
const inner = fc.constantFrom(...letters, ..."0123456789-");

export const nameArbitrary = (max: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      letter,
      fc.string({ unit: inner, maxLength: max - 2 }),
      fc.constantFrom(...letters, ..."0123456789"),
    )
    .map((parts) => parts.join(""))
    .filter((name) => !name.endsWith("-headless"));

const tunables: fc.Arbitrary<Record<string, string | number>> = fc.record(
  Object.fromEntries(
    Object.entries(TUNABLES).map(([field, entry]) => [
      field,
      fc.oneof(fc.constant(defaultOf(entry)), valueOfSetting(SETTINGS[entry])),
    ]),
  ) as Record<string, fc.Arbitrary<string | number>>,
);

const kinds = Object.keys(KINDS) as ReadinessKind[];
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const pattern = fc.constantFrom("^OK", "[0-9]+ ready\\r?$", "\\xff");

/** A readiness as a person would write it, options given or not. */
export const readinessText: fc.Arbitrary<Record<string, unknown>> = fc
  .record({
    kind: fc.constantFrom(...kinds),
    pattern: optional(pattern),
    user: optional(fc.constantFrom("app", "postgres")),
    database: optional(fc.constantFrom("app", "postgres")),
    method: optional(fc.constantFrom("GET", "HEAD")),
    path: optional(fc.constantFrom("/", "/healthz?deep=1")),
    host: optional(fc.constantFrom("example.com", "[::1]:8080")),
    serverName: optional(fc.constantFrom("example.com")),
    sendHex: fc.constantFrom("00ff", "504f4b450d0a"),
    expect: optional(pattern),
    bytes: optional(fc.integer({ min: 1, max: 65_536 })),
  })
  .map(({ kind, ...options }) => {
    const allowed: readonly string[] = KINDS[kind].options;
    const taken = Object.entries(options).filter(
      ([name, value]) => allowed.includes(name) && value !== undefined,
    );
    return { kind, ...Object.fromEntries(taken) };
  });

const proof = fc
  .record({ readiness: readinessText, wakeOn: fc.constantFrom(...WAKE_ON) })
  .map(({ readiness, wakeOn }) => {
    const read = readReadiness(readiness);
    if (!read.ok) throw new Error(JSON.stringify(read.refusals));
    const proved = { readiness: read.value, wakeOn };
    return deadlock(proved, 16_384) === undefined ? proved : { ...proved, wakeOn: "connect" as const };
  });

const target = (listens: number[]): fc.Arbitrary<TargetSettings> =>
  fc
    .record({
      workload: nameArbitrary(49),
      gvc: nameArbitrary(63),
      host: fc.option(fc.constantFrom("127.0.0.1", "::1", "db.internal"), { nil: undefined }),
      targets: fc.array(fc.integer({ min: 1, max: 65_535 }), {
        minLength: listens.length,
        maxLength: listens.length,
      }),
      proofs: fc.array(proof, { minLength: listens.length, maxLength: listens.length }),
      tunables,
    })
    .filter(({ proofs, tunables: { earlyBytes } }) =>
      proofs.every((each) => deadlock(each, Number(earlyBytes)) === undefined),
    )
    .map((drawn) => ({
      workload: drawn.workload,
      gvc: drawn.gvc,
      host: drawn.host ?? defaultHost(drawn.workload, drawn.gvc),
      ports: listens.map((listen, index) => ({
        listen,
        target: drawn.targets[index] ?? 1,
        ...(drawn.proofs[index] ?? { readiness: { kind: "banner" }, wakeOn: "connect" }),
      })),
      ...(drawn.tunables as unknown as Omit<TargetSettings, "workload" | "gvc" | "host" | "ports">),
    }));

/** Listen ports are unique across targets and leave the health port alone, as they must. */
export const settingsArbitrary: fc.Arbitrary<Omit<ProxySettings, "platform">> = fc
  .record({
    ports: fc.uniqueArray(fc.integer({ min: 1, max: 65_535 }), { minLength: 2, maxLength: 12 }),
    share: fc.integer({ min: 1, max: 4 }),
  })
  .chain(({ ports, share }) => {
    const [healthPort = 1, ...listens] = ports;
    const groups: number[][] = [];
    for (let at = 0; at < listens.length; at += share) groups.push(listens.slice(at, at + share));
    return fc.record({
      targets: fc.tuple(...groups.map(target)),
      healthPort: fc.constant(healthPort),
      listenHost: fc.constantFrom("::", "0.0.0.0", "127.0.0.1"),
      drainTimeoutMs: fc.oneof(fc.constant(75_000), fc.integer({ min: 1, max: 3_600_000 })),
      ownGraceMs: fc.option(fc.integer({ min: 1, max: 3_600_000 }), { nil: undefined }),
      dataPlane: fc.constantFrom("auto" as const, "native" as const, "js" as const),
      halfCloseLingerMs: fc.integer({ min: 1_000, max: 604_800_000 }),
      stallLimitMs: fc.integer({ min: 1_000, max: 604_800_000 }),
      maxHeldTotal: fc.oneof(fc.constant(2000), fc.integer({ min: 1, max: 60_000 })),
      maxConnectionsTotal: fc.oneof(fc.constant(8000), fc.integer({ min: 1, max: 60_000 })),
    });
  });
