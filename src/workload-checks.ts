import { allSettings } from "./contract/catalogue";
import { containerPortProblem } from "./contract/ports";
import { type Problem, problem } from "./contract/problems";
import { readValue } from "./contract/values";
import type { PlainArgs } from "./plain-args";
import { proxyImageRepository } from "./version";

const GRACE_SECONDS = { min: 5, max: 900 };

/** What concerns the proxy's own workload alone. */
export function checkWorkload(args: PlainArgs): Problem[] {
  const found: Problem[] = [];
  const { image, replicas, terminationGracePeriodSeconds: grace, healthPort, exposeHealth, location } = args;
  if (replicas !== undefined && replicas !== 1) {
    const reason =
      "must be 1: replicas don't know of each other's clients yet, and one would suspend under another's";
    found.push(problem("invalid", "replicas", reason, { got: replicas }));
  }
  if (
    grace !== undefined &&
    !(Number.isInteger(grace) && grace >= GRACE_SECONDS.min && grace <= GRACE_SECONDS.max)
  ) {
    const reason = `must be whole seconds between ${GRACE_SECONDS.min} and ${GRACE_SECONDS.max}`;
    found.push(problem("invalid", "terminationGracePeriodSeconds", reason, { got: grace }));
  }
  if (healthPort !== undefined) {
    const reason = containerPortProblem(healthPort);
    if (reason !== undefined) found.push(problem("invalid", "healthPort", reason, { got: healthPort }));
  }
  if (exposeHealth !== undefined && typeof exposeHealth !== "boolean") {
    found.push(problem("invalid", "exposeHealth", "must be true or false", { got: exposeHealth }));
  }
  if (location !== undefined && (typeof location !== "string" || !/^[a-z0-9][-a-z0-9]*$/.test(location))) {
    found.push(problem("invalid", "location", "must be the bare name of a location", { got: location }));
  }
  if (image !== undefined && (typeof image !== "string" || !/^\S+$/.test(image))) {
    found.push(problem("invalid", "image", "must be the name of an image", { got: image }));
  } else if (image !== undefined && new RegExp(`^${proxyImageRepository}:v?0\\.[01](\\.|$)`).test(image)) {
    const reason =
      "is older than the settings that this component renders: it knows one target and no TARGET_1";
    found.push(problem("invalid", "image", reason, { got: image }));
  }
  return [...found, ...checkSize("cpu", args.cpu, CPU), ...checkSize("memory", args.memory, MEMORY)];
}

interface Size {
  units: Readonly<Record<string, number>>;
  least: number;
  wants: string;
  floor: string;
}

/** In millicores. */
const CPU: Size = {
  units: { "": 1000, m: 1 },
  least: 25,
  wants: "must be text such as 100m or 0.5",
  floor: "must be at least 25m: the platform takes no less",
};
/** In bytes. */
const MEMORY: Size = {
  units: { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, k: 1e3, K: 1e3, M: 1e6, G: 1e9 },
  least: 32 * 2 ** 20,
  wants: "must be text such as 128Mi or 1Gi",
  floor: "must be at least 32Mi: the platform takes no less",
};

function checkSize(argument: string, value: unknown, { units, least, wants, floor }: Size): Problem[] {
  if (value === undefined) return [];
  const [, digits, unit = ""] =
    /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(typeof value === "string" ? value : "") ?? [];
  const factor = units[unit];
  if (digits === undefined || factor === undefined)
    return [problem("invalid", argument, wants, { got: value })];
  return Number(digits) * factor < least ? [problem("invalid", argument, floor, { got: value })] : [];
}

/** An empty variable is an absent one to the proxy. An empty argument is somebody's mistake. */
export function checkBlank(args: PlainArgs): Problem[] {
  const given = args as unknown as Record<string, unknown>;
  return allSettings().flatMap((setting) => {
    const { argument } = setting;
    const value = argument === undefined ? undefined : given[argument];
    if (argument === undefined || typeof value !== "string" || value.trim() !== "") return [];
    const read = readValue(setting, value);
    return read.ok ? [] : [problem("invalid", argument, read.reason, { got: value })];
  });
}
