import type { Mode, WorkloadSnapshot } from "../core/types";
import { asBoolean, asNumber, asObject, asText } from "./coerce";

export const MODE_TAG = "scale-to-zero/mode";

/** The platform's own default, for a workload that does not say. */
const DEFAULT_GRACE_S = 90;

/** Undefined when this is no workload: nothing is decided on a guess. */
export function parseWorkload(body: unknown): WorkloadSnapshot | undefined {
  const workload = asObject(body);
  const id = asText(workload.id);
  const version = asNumber(workload.version);
  if (id === undefined || version === undefined) return undefined;

  const spec = asObject(workload.spec);
  const options = asObject(spec.defaultOptions);
  const grace = asNumber(asObject(spec.rolloutOptions).terminationGracePeriodSeconds);
  return {
    id,
    version,
    suspended: asBoolean(options.suspend) ?? false,
    graceMs: (grace ?? DEFAULT_GRACE_S) * 1000,
    mode: modeOf(asObject(workload.tags)[MODE_TAG]),
    otherScaler: asObject(options.autoscaling).metric === "keda" ? "keda" : undefined,
  };
}

function modeOf(tag: unknown): Mode {
  return tag === "paused" || tag === "always-on" ? tag : "normal";
}
