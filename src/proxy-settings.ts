import { type Advice, advise } from "./contract/advice";
import { allSettings, SETTINGS } from "./contract/catalogue";
import { drainWithin } from "./contract/drain";
import { oversized, parseEnvironment, renderEnvironment } from "./contract/environment";
import { assignListen } from "./contract/ports";
import type { Problem } from "./contract/problems";
import {
  DEFAULT_GRACE_SECONDS,
  DEFAULT_HEALTH_PORT,
  mappingsOf,
  type PlainArgs,
  type RawMapping,
} from "./plain-args";

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
  if (!parsed.ok) return { ok: false, problems: parsed.problems.map((each) => byArgument(each, args)) };

  const environment = renderEnvironment(parsed.settings);
  const long = oversized(environment);
  if (long.length > 0) return { ok: false, problems: long.map((each) => byArgument(each, args)) };
  const listens = parsed.settings.targets.flatMap((target) => target.ports.map(({ listen }) => listen));
  return { ok: true, environment, listens, advice: advise(parsed.settings).map(adviceByArgument) };
}

/** The arguments as variables, unread and unchecked. */
function spell(args: PlainArgs): Record<string, string | undefined> {
  const given = args as unknown as Record<string, unknown>;
  const target: Record<string, unknown> = {
    workload: args.target,
    gvc: args.targetGvc,
    host: args.targetHost,
    ports: listenPorts(args),
  };
  const env: Record<string, string | undefined> = { ...INJECTED, CPLN_GVC: asText(args.gvc) };
  for (const setting of allSettings()) {
    const value = setting.argument === undefined ? undefined : given[setting.argument];
    if (setting.scope === "target" && setting.key !== undefined) target[setting.key] = value;
    if (setting.scope === "process") env[setting.variable] = asText(value);
  }
  const grace = args.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  env.OWN_GRACE = `${grace}s`;
  env.DRAIN_TIMEOUT = asText(args.drainTimeout) ?? `${drainWithin(grace * 1000)}ms`;
  env.TARGET_1 = JSON.stringify(target);
  return env;
}

function listenPorts(args: PlainArgs): unknown {
  const mappings = mappingsOf(args);
  if (!mappings) return args.ports;
  const listens = listensOf(args, mappings);
  return mappings.map(({ port, target }, index) => ({ listen: listens[index], target: target ?? port }));
}

/** The container's ports. A mapping without a port has none; the checks say so. */
export const listensOf = (args: PlainArgs, mappings: readonly RawMapping[]): (number | undefined)[] =>
  assignListen(mappings as { port: number }[], args.healthPort ?? DEFAULT_HEALTH_PORT).map((listen) =>
    Number.isNaN(listen) ? undefined : listen,
  );

const asText = (value: unknown): string | undefined =>
  value === undefined || typeof value === "string" ? value : JSON.stringify(value);

/** The same problem at the argument that the user wrote. */
function byArgument(found: Problem, args: PlainArgs): Problem {
  const [key, ...rest] = found.path;
  const inTarget = found.variable === "TARGET_1";
  const setting = allSettings().find((each) =>
    inTarget ? each.key === (key ?? "ports") : each.variable === found.variable,
  );
  let argument = setting?.argument ?? found.variable;
  if (argument === "targetGvc" && args.targetGvc === undefined) argument = "gvc";
  if (found.variable === "CPLN_GVC") argument = "gvc";
  if (found.variable === "DRAIN_TIMEOUT" && args.drainTimeout === undefined) {
    argument = "terminationGracePeriodSeconds";
  }
  return { ...found, variable: argument, path: inTarget ? rest : found.path, reason: inWords(found.reason) };
}

function adviceByArgument({ setting, text }: Advice): Problem {
  const argument = SETTINGS[setting as keyof typeof SETTINGS] as { argument?: string };
  return { kind: "invalid", variable: argument.argument ?? setting, path: [], reason: inWords(text) };
}

/** Variables in a sentence, by the arguments that set them. */
const inWords = (text: string): string =>
  text.replace(/\b[A-Z]+(?:_[A-Z0-9]+)+\b/g, (name) => {
    const setting = allSettings().find((each) => each.variable === name);
    return setting?.argument ?? (name === "TARGET_1" ? "another port" : name);
  });
