import { type Advice, advise } from "./contract/advice";
import { allSettings, SETTINGS } from "./contract/catalogue";
import { drainWithin } from "./contract/drain";
import { oversized, parseEnvironment, renderEnvironment } from "./contract/environment";
import { assignListen } from "./contract/ports";
import type { Problem } from "./contract/problems";
import { DEFAULT_GRACE_SECONDS, DEFAULT_HEALTH_PORT, type PlainArgs } from "./plain-args";
import { readinessOf } from "./readiness";
import { mappingsOf, type Place, type RawMapping, type RawTarget, targetsOf } from "./target-list";

/** Stand-ins for what the platform injects: the proxy's parser wants them, and nothing of them is rendered. */
const INJECTED = { CPLN_ENDPOINT: "http://api.cpln.io", CPLN_ORG: "org", CPLN_TOKEN: "token" };

export type RenderedSettings =
  | { ok: true; environment: Record<string, string>; listens: number[]; advice: Problem[] }
  | { ok: false; problems: Problem[] };

/**
 * The proxy's environment from the arguments, through the proxy's own parser: what it would refuse is found here, by
 * the argument's name.
 */
export function renderSettings(args: PlainArgs): RenderedSettings {
  const parsed = parseEnvironment(spell(args));
  if (!parsed.ok) return { ok: false, problems: byArguments(parsed.problems, args) };

  const environment = renderEnvironment(parsed.settings);
  const long = oversized(environment);
  if (long.length > 0) return { ok: false, problems: byArguments(long, args) };
  const listens = parsed.settings.targets.flatMap((target) => target.ports.map(({ listen }) => listen));
  return { ok: true, environment, listens, advice: adviceByArguments(advise(parsed.settings), args) };
}

/** The arguments as variables, unread and unchecked. */
function spell(args: PlainArgs): Record<string, string | undefined> {
  const given = args as unknown as Record<string, unknown>;
  const env: Record<string, string | undefined> = { ...INJECTED, CPLN_GVC: asText(args.gvc) };
  for (const setting of allSettings()) {
    if (setting.scope !== "process" || setting.argument === undefined) continue;
    env[setting.variable] = asText(given[setting.argument]);
  }
  const grace = args.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  env.OWN_GRACE = `${grace}s`;
  env.DRAIN_TIMEOUT = asText(args.drainTimeout) ?? `${drainWithin(grace * 1000)}ms`;

  const listens = listensOf(args);
  targetsOf(args)?.forEach(({ target }, index) => {
    env[`TARGET_${index + 1}`] = JSON.stringify(spellTarget(target, args, listens));
  });
  return env;
}

/** Takes the target's own from `listens`. What the target does not say for itself is as it is for all. */
function spellTarget(target: RawTarget, args: PlainArgs, listens: (number | undefined)[]): object {
  const [common, own] = [args, target] as unknown as Record<string, unknown>[];
  const json: Record<string, unknown> = {
    workload: target.target,
    gvc: target.targetGvc,
    host: target.targetHost,
  };
  json.ports = Array.isArray(target.ports)
    ? mappingsOf({ targets: [target as PlainArgs] }).map(({ mapping }) =>
        spellMapping(mapping, listens.shift(), own?.earlyBytes ?? common?.earlyBytes),
      )
    : target.ports;
  for (const { scope, key, argument } of allSettings()) {
    if (scope !== "target" || key === undefined || argument === undefined) continue;
    json[key] = own?.[argument] ?? common?.[argument];
  }
  return json;
}

const spellMapping = (mapping: RawMapping, listen: number | undefined, earlyBytes: unknown): object => ({
  listen,
  target: mapping.target ?? mapping.port,
  ...readinessOf(mapping, earlyBytes),
});

/** The container's ports. A mapping without a port has none; the checks say so. */
export function listensOf(args: PlainArgs): (number | undefined)[] {
  const mappings = mappingsOf(args).map(({ mapping }) => mapping as { port: number });
  return assignListen(mappings, args.healthPort ?? DEFAULT_HEALTH_PORT).map((listen) =>
    Number.isNaN(listen) ? undefined : listen,
  );
}

const asText = (value: unknown): string | undefined =>
  value === undefined || typeof value === "string" ? value : JSON.stringify(value);

/** The same problems at the arguments that the user wrote. What is said of several targets for one is said once. */
function byArguments(problems: readonly Problem[], args: PlainArgs): Problem[] {
  const found = problems.map((each) => byArgument(each, args));
  const keys = found.map(({ variable, path, reason }) => JSON.stringify([variable, path, reason]));
  return found.filter((_, index) => keys.indexOf(keys[index] ?? "") === index);
}

function byArgument(found: Problem, args: PlainArgs): Problem {
  const [key, ...rest] = found.path;
  const number = /^TARGET_(\d+)$/.exec(found.variable)?.[1];
  const setting = allSettings().find((each) =>
    number === undefined ? each.variable === found.variable : each.key === (key ?? "ports"),
  );
  const argument = setting?.argument ?? found.variable;
  const place =
    number === undefined
      ? { variable: argumentOf(found.variable, argument, args), path: [...found.path] }
      : inTarget(Number(number) - 1, argument, args);
  const path = number === undefined ? place.path : [...place.path, ...rest];
  return { ...found, variable: place.variable, path, reason: inWords(found.reason) };
}

function argumentOf(variable: string, argument: string, args: PlainArgs): string {
  if (variable === "CPLN_GVC") return "gvc";
  if (variable === "DRAIN_TIMEOUT" && args.drainTimeout === undefined) return "terminationGracePeriodSeconds";
  return argument;
}

/** A target's own argument, or the one for all targets that stands in for it. */
function inTarget(index: number, argument: string, args: PlainArgs): Place {
  const placed = targetsOf(args)?.[index];
  const own = (placed?.target as Record<string, unknown> | undefined)?.[argument];
  if (argument === "targetGvc" && own === undefined) return { variable: "gvc", path: [] };
  const common = (args as unknown as Record<string, unknown>)[argument];
  if (placed === undefined || (own === undefined && common !== undefined))
    return { variable: argument, path: [] };
  return placed.at(argument);
}

function adviceByArguments(advice: readonly Advice[], args: PlainArgs): Problem[] {
  return byArguments(
    advice.map(({ setting, target, text }) => {
      const entry = SETTINGS[setting as keyof typeof SETTINGS] as { key?: string };
      const at =
        target === undefined ? {} : { variable: `TARGET_${target + 1}`, path: [entry.key ?? setting] };
      return { kind: "invalid", variable: setting, path: [], reason: text, ...at };
    }),
    args,
  );
}

/** Variables in a sentence, by the arguments that set them. */
const inWords = (text: string): string =>
  text.replace(/\b[A-Z]+(?:_[A-Z0-9]+)+\b/g, (name) => {
    const setting = allSettings().find((each) => each.variable === name);
    return setting?.argument ?? (/^TARGET_\d+$/.test(name) ? "another port" : name);
  });
