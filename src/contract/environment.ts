import { advise } from "./advice";
import { SETTINGS, SETTINGS_VERSION, type Setting } from "./catalogue";
import { defaultHost, parseLink } from "./links";
import { formatProblem, type Problem, problem } from "./problems";
import type { PlatformSettings, ProxySettings, TargetSettings } from "./settings";
import { parseTarget, renderTarget, type TargetDefaults, TUNABLES, type Tunables } from "./targets";
import { type DefaultedName, defaultOf, readValue, type ValueOf, writeValue } from "./values";

export { formatProblem, type Problem };

export type Environment = Readonly<Record<string, string | undefined>>;

export type ParsedEnvironment =
  | { ok: true; settings: ProxySettings; warnings: string[] }
  | { ok: false; problems: Problem[] };

/** The most that the platform lets one variable hold. */
export const MAX_VALUE_LENGTH = 4096;

const SINGLE = [SETTINGS.TARGET_WORKLOAD, SETTINGS.TARGET_GVC, SETTINGS.TARGET_HOST, SETTINGS.PORT_MAPPINGS];
const PLACEHOLDER = "unknown";

/** Everything that is wrong is found at once. An empty variable counts as absent. */
export function parseEnvironment(env: Environment): ParsedEnvironment {
  const problems: Problem[] = [];
  const reader = new Reader(env, problems);

  const version = reader.read(SETTINGS.SETTINGS_VERSION) ?? SETTINGS_VERSION;
  if (version > SETTINGS_VERSION) {
    // What else looks wrong may be right in the newer edition: saying so would only mislead.
    const reason = `is newer than this proxy knows, ${SETTINGS_VERSION}: deploy a newer proxy image`;
    return {
      ok: false,
      problems: [problem("newer", "SETTINGS_VERSION", reason, { got: String(version) })],
    };
  }

  const healthPort = reader.orDefault("HEALTH_PORT");
  const tunables = Object.fromEntries(
    Object.entries(TUNABLES).map(([name, entry]) => [name, reader.orDefault(entry)]),
  ) as unknown as Tunables;
  const ownGvc = reader.read(SETTINGS.CPLN_GVC);
  const sources = readTargets(reader, { gvc: ownGvc, tunables });
  problems.push(...clashes(sources, healthPort));

  const settings: ProxySettings = {
    targets: sources.map(({ target }) => target),
    healthPort,
    listenHost: reader.orDefault("LISTEN_HOST"),
    drainTimeoutMs: reader.orDefault("DRAIN_TIMEOUT"),
    ownGraceMs: reader.read(SETTINGS.OWN_GRACE),
    dataPlane: reader.orDefault("DATA_PLANE"),
    halfCloseLingerMs: reader.orDefault("HALF_CLOSE_LINGER"),
    stallLimitMs: reader.orDefault("STALL_LIMIT"),
    maxHeldTotal: reader.orDefault("MAX_HELD_TOTAL"),
    maxConnectionsTotal: reader.orDefault("MAX_CONNECTIONS_TOTAL"),
    platform: readPlatform(reader, ownGvc ?? sources[0]?.target.gvc),
  };
  if (problems.length > 0) return { ok: false, problems };

  const warnings = advise(settings).map(({ setting, target, text }) => {
    const variable = target === undefined ? undefined : sources[target]?.variable;
    return `${variable === undefined || variable === "PORT_MAPPINGS" ? "" : `${variable}: `}${setting}: ${text}`;
  });
  return { ok: true, settings, warnings };
}

/** A target and the variable that its ports stand in. */
interface Source {
  variable: string;
  target: TargetSettings;
}

class Reader {
  readonly env: Environment;
  readonly problems: Problem[];

  constructor(env: Environment, problems: Problem[]) {
    this.env = env;
    this.problems = problems;
  }

  text(variable: string): string | undefined {
    const text = this.env[variable];
    return text === undefined || text.trim() === "" ? undefined : text;
  }

  /** Undefined when absent or wrong; the latter is noted. */
  read<S extends Setting>(setting: S): ValueOf<S> | undefined {
    const text = this.text(setting.variable);
    if (text === undefined) {
      if (setting.required) this.problems.push(problem("missing", setting.variable, "is required"));
      return undefined;
    }
    const read = readValue(setting, text);
    if (read.ok) return read.value;
    const echo = setting.kind === "secret" ? {} : { got: text };
    this.problems.push(problem("invalid", setting.variable, read.reason, echo));
    return undefined;
  }

  orDefault<N extends DefaultedName>(name: N): ValueOf<(typeof SETTINGS)[N]> {
    return this.read(SETTINGS[name]) ?? defaultOf(name);
  }
}

function readTargets(reader: Reader, defaults: TargetDefaults): Source[] {
  const numbered = Object.keys(reader.env)
    .filter((name) => /^TARGET_\d+$/.test(name) && reader.text(name) !== undefined)
    .sort((a, b) => numberOf(a) - numberOf(b));
  if (numbered.length === 0) return readSingle(reader, defaults);

  for (const { variable } of SINGLE) {
    const got = reader.text(variable);
    if (got === undefined) continue;
    const reason = `can't stand beside ${numbered[0]}, which says it all`;
    reader.problems.push(problem("conflict", variable, reason, { got }));
  }
  return numbered.flatMap((variable) => {
    if (!/^TARGET_[1-9]\d{0,3}$/.test(variable)) {
      const reason = "is not a target's number: they begin at 1, without leading zeros";
      reader.problems.push(problem("invalid", variable, reason));
      return [];
    }
    const target = parseTarget(variable, reader.text(variable) ?? "", defaults, reader.problems);
    return target ? [{ variable, target }] : [];
  });
}

const numberOf = (variable: string): number => Number(variable.slice("TARGET_".length));

function readSingle(reader: Reader, defaults: TargetDefaults): Source[] {
  const workload = reader.read(SETTINGS.TARGET_WORKLOAD);
  const linked = parseLink(reader.text("TARGET_WORKLOAD") ?? "")?.gvc;
  const named = reader.read(SETTINGS.TARGET_GVC);
  const host = reader.read(SETTINGS.TARGET_HOST);
  const pairs = reader.read(SETTINGS.PORT_MAPPINGS);
  if (named !== undefined && linked !== undefined && named !== linked) {
    const reason = `names another GVC than the link in TARGET_WORKLOAD, ${linked}`;
    reader.problems.push(problem("conflict", "TARGET_GVC", reason, { got: named }));
  }
  const gvc = named ?? linked ?? defaults.gvc;
  if (gvc === undefined && reader.text("TARGET_GVC") === undefined && reader.text("CPLN_GVC") === undefined) {
    reader.problems.push(problem("missing", "TARGET_GVC", "is required where CPLN_GVC is absent"));
  }
  if (!pairs) return [];
  // With a problem elsewhere the ports are still worth checking against each other.
  const target: TargetSettings = {
    workload: workload ?? PLACEHOLDER,
    gvc: gvc ?? PLACEHOLDER,
    host: host ?? defaultHost(workload ?? PLACEHOLDER, gvc ?? PLACEHOLDER),
    ports: pairs.map((pair) => ({ ...pair, readiness: { kind: "banner" }, wakeOn: "connect" })),
    ...defaults.tunables,
  };
  return [{ variable: "PORT_MAPPINGS", target }];
}

/** Listen ports are unique across all targets and leave the health port alone. */
function clashes(sources: readonly Source[], healthPort: number): Problem[] {
  const owners = new Map<number, string>([[healthPort, "HEALTH_PORT"]]);
  return sources.flatMap(({ variable, target }) =>
    target.ports.flatMap(({ listen }, index) => {
      const path = variable === "PORT_MAPPINGS" ? [] : ["ports", index, "listen"];
      const owner = owners.get(listen);
      owners.set(listen, owner ?? variable);
      if (owner === undefined) return [];
      const reason = owner === variable ? "is listened on twice" : `is taken by ${owner}`;
      return [problem("conflict", variable, reason, { path, got: String(listen) })];
    }),
  );
}

function readPlatform(reader: Reader, gvc: string | undefined): PlatformSettings {
  return {
    endpoint: reader.read(SETTINGS.CPLN_ENDPOINT) ?? "",
    org: reader.read(SETTINGS.CPLN_ORG) ?? "",
    gvc: gvc ?? "",
    workload: reader.read(SETTINGS.CPLN_WORKLOAD),
    location: reader.read(SETTINGS.CPLN_LOCATION),
    token: reader.read(SETTINGS.CPLN_TOKEN) ?? "",
  };
}

/** The variables that `parseEnvironment` reads the same settings from; what is at its default is left out. */
export function renderEnvironment(settings: Omit<ProxySettings, "platform">): Record<string, string> {
  const env: Record<string, string> = { SETTINGS_VERSION: String(SETTINGS_VERSION) };
  settings.targets.forEach((target, index) => {
    env[`TARGET_${index + 1}`] = renderTarget(target);
  });
  const write = (name: DefaultedName, value: string | number) => {
    if (value !== defaultOf(name)) env[name] = String(writeValue(SETTINGS[name], value));
  };
  write("HEALTH_PORT", settings.healthPort);
  write("LISTEN_HOST", settings.listenHost);
  write("DRAIN_TIMEOUT", settings.drainTimeoutMs);
  write("DATA_PLANE", settings.dataPlane);
  write("HALF_CLOSE_LINGER", settings.halfCloseLingerMs);
  write("STALL_LIMIT", settings.stallLimitMs);
  write("MAX_HELD_TOTAL", settings.maxHeldTotal);
  write("MAX_CONNECTIONS_TOTAL", settings.maxConnectionsTotal);
  if (settings.ownGraceMs !== undefined) {
    env.OWN_GRACE = String(writeValue(SETTINGS.OWN_GRACE, settings.ownGraceMs));
  }
  return env;
}

/** Variables that the platform would refuse for their length. */
export function oversized(env: Readonly<Record<string, string>>): Problem[] {
  return Object.entries(env)
    .filter(([, value]) => value.length > MAX_VALUE_LENGTH)
    .map(([variable, value]) => {
      const reason = `is ${value.length} characters long, and the platform takes ${MAX_VALUE_LENGTH}`;
      return problem("too-long", variable, reason);
    });
}
