// The small edition: the proxy parses this at every start, and the large one is a tenth of the CPU of that.
import * as z from "zod/mini";
import { SETTINGS, type Setting } from "./catalogue";
import { defaultHost, parseLink } from "./links";
import { MAX_PORT } from "./ports";
import { type Problem, problem } from "./problems";
import { WAKE_ON } from "./readiness";
import { deadlock, readReadiness, writeReadiness } from "./readiness-grammar";
import type { PortMapping, Readiness, TargetSettings } from "./settings";
import { defaultOf, readValue, type ValueOf, writeValue } from "./values";

/** The settings that every target has and that a variable can set for all of them. */
export type Tunables = Omit<TargetSettings, "workload" | "gvc" | "host" | "ports">;

/** Which entry of the catalogue holds which tunable. The one place where the two are paired. */
export const TUNABLES = {
  idleHoldMs: "IDLE_HOLD",
  maxHoldMs: "MAX_HOLD",
  wakeTimeoutMs: "WAKE_TIMEOUT",
  wakePollIntervalMs: "WAKE_POLL_INTERVAL",
  probeWindowMs: "PROBE_WINDOW",
  holdEnd: "HOLD_END",
  clientFin: "CLIENT_FIN",
  watchIntervalMs: "WATCH_INTERVAL",
  maxHeld: "MAX_HELD",
  maxConnections: "MAX_CONNECTIONS",
  dialLimit: "DIAL_LIMIT",
  earlyBytes: "EARLY_BYTES",
} as const satisfies Record<keyof Tunables, keyof typeof SETTINGS>;

/** A setting as a zod schema: one message, made by the catalogue's own reader. */
function field<S extends Setting>(setting: S): z.ZodMiniType<ValueOf<S>> {
  return z.pipe(
    z.unknown(),
    z.transform((value: unknown, ctx): ValueOf<S> => {
      const read =
        value === undefined ? { ok: false as const, reason: "is required" } : readValue(setting, value);
      if (read.ok) return read.value;
      ctx.issues.push({ code: "custom", message: read.reason, input: value });
      return z.NEVER;
    }),
  );
}

const port = {
  variable: "",
  scope: "single",
  meaning: "",
  kind: "integer",
  min: 1,
  max: MAX_PORT,
  unit: "port",
} as const;
const readiness = z.pipe(
  z.unknown(),
  z.transform((value: unknown, ctx): Readiness => {
    const read = readReadiness(value);
    if (read.ok) return read.value;
    for (const { reason, path } of read.refusals) {
      ctx.issues.push({ code: "custom", message: reason, input: value, path });
    }
    return z.NEVER;
  }),
);
const wakeOn = {
  variable: "",
  scope: "single",
  meaning: "",
  kind: "choice",
  values: WAKE_ON,
  default: "connect",
} as const;
const portSchema = z.strictObject({
  listen: field(port),
  target: field(port),
  readiness: z.optional(readiness),
  wakeOn: z.optional(field(wakeOn)),
});

const targetSchema = z.strictObject({
  workload: field(SETTINGS.TARGET_WORKLOAD),
  gvc: z.optional(field(SETTINGS.TARGET_GVC)),
  host: z.optional(field(SETTINGS.TARGET_HOST)),
  ports: z.array(portSchema).check(z.minLength(1)),
  idleHold: z.optional(field(SETTINGS.IDLE_HOLD)),
  maxHold: z.optional(field(SETTINGS.MAX_HOLD)),
  wakeTimeout: z.optional(field(SETTINGS.WAKE_TIMEOUT)),
  wakePollInterval: z.optional(field(SETTINGS.WAKE_POLL_INTERVAL)),
  probeWindow: z.optional(field(SETTINGS.PROBE_WINDOW)),
  holdEnd: z.optional(field(SETTINGS.HOLD_END)),
  clientFin: z.optional(field(SETTINGS.CLIENT_FIN)),
  watchInterval: z.optional(field(SETTINGS.WATCH_INTERVAL)),
  maxHeld: z.optional(field(SETTINGS.MAX_HELD)),
  maxConnections: z.optional(field(SETTINGS.MAX_CONNECTIONS)),
  dialLimit: z.optional(field(SETTINGS.DIAL_LIMIT)),
  earlyBytes: z.optional(field(SETTINGS.EARLY_BYTES)),
});

export interface TargetDefaults {
  /** Absent where not even the proxy's own GVC is known. */
  gvc: string | undefined;
  tunables: Tunables;
}

/** One `TARGET_n`. Undefined when it holds problems, which are added to the list. */
export function parseTarget(
  variable: string,
  text: string,
  defaults: TargetDefaults,
  problems: Problem[],
): TargetSettings | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    problems.push(problem("invalid", variable, "must be JSON", { got: text }));
    return undefined;
  }
  const parsed = targetSchema.safeParse(json);
  if (!parsed.success) {
    problems.push(...parsed.error.issues.flatMap((issue) => fromIssue(issue, variable, json)));
    return undefined;
  }
  const { workload, gvc, host, ports, ...own } = parsed.data;
  const linked = linkedGvc(json);
  if (gvc !== undefined && linked !== undefined && gvc !== linked) {
    const reason = `names another GVC than the link to the workload, ${linked}`;
    problems.push(problem("conflict", variable, reason, { path: ["gvc"], got: gvc }));
  }
  const inGvc = gvc ?? linked ?? defaults.gvc;
  if (inGvc === undefined) {
    problems.push(problem("missing", variable, "is required where CPLN_GVC is absent", { path: ["gvc"] }));
    return undefined;
  }
  const tunables = Object.fromEntries(
    Object.entries(TUNABLES).map(([name, entry]) => {
      const value = own[SETTINGS[entry].key];
      return [name, value ?? defaults.tunables[name as keyof Tunables]];
    }),
  ) as unknown as Tunables;
  const mappings = ports.map(
    ({ listen, target, readiness = { kind: "banner" }, wakeOn = "connect" }): PortMapping => ({
      listen,
      target,
      readiness,
      wakeOn,
    }),
  );
  problems.push(...deadlocks(mappings, tunables.earlyBytes, variable));
  return {
    workload,
    gvc: inGvc,
    host: host ?? defaultHost(workload, inGvc),
    ports: mappings,
    ...tunables,
  };
}

function deadlocks(mappings: readonly PortMapping[], earlyBytes: number, variable: string): Problem[] {
  return mappings.flatMap((mapping, index) => {
    const found = deadlock(mapping, earlyBytes);
    if (!found) return [];
    const got = found.key === "wakeOn" ? mapping.wakeOn : mapping.readiness.kind;
    return [problem("conflict", variable, found.reason, { path: ["ports", index, found.key], got })];
  });
}

const linkedGvc = (json: unknown): string | undefined => {
  const { workload } = json as { workload?: unknown };
  return typeof workload === "string" ? parseLink(workload)?.gvc : undefined;
};

/** One `TARGET_n` with what differs from the defaults. `parseTarget` gives the same settings back. */
export function renderTarget(target: TargetSettings): string {
  const json: Record<string, unknown> = { workload: target.workload, gvc: target.gvc };
  if (target.host !== defaultHost(target.workload, target.gvc)) json.host = target.host;
  json.ports = target.ports.map(({ listen, target: to, readiness, wakeOn }: PortMapping) => ({
    listen,
    target: to,
    ...(readiness.kind === "banner" && !readiness.pattern ? {} : { readiness: writeReadiness(readiness) }),
    ...(wakeOn === "connect" ? {} : { wakeOn }),
  }));
  for (const [name, entry] of Object.entries(TUNABLES)) {
    const value = target[name as keyof Tunables];
    if (value !== defaultOf(entry)) json[SETTINGS[entry].key] = writeValue(SETTINGS[entry], value);
  }
  return JSON.stringify(json);
}

function fromIssue(issue: z.core.$ZodIssue, variable: string, json: unknown): Problem[] {
  const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  const got = at(json, path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => {
        const known = path.length === 0 ? Object.keys(targetSchema.shape) : Object.keys(portSchema.shape);
        const reason = `is not known; known are ${known.join(", ")}`;
        return problem("unknown", variable, reason, { path: [...path, key] });
      });
    case "invalid_type": {
      const reason = issue.expected === "array" ? "must be a list" : `must be an ${issue.expected}`;
      return [
        got === undefined
          ? problem("missing", variable, "is required", { path })
          : problem("invalid", variable, reason, { path, got }),
      ];
    }
    case "too_small":
      return [problem("invalid", variable, "must name at least one port", { path, got })];
    default:
      return [problem(got === undefined ? "missing" : "invalid", variable, issue.message, { path, got })];
  }
}

function at(json: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === "object" && value !== null
        ? (value as Record<string | number, unknown>)[step]
        : undefined,
    json,
  );
}
