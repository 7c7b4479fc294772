/** What the public provider settles about a workload's inputs before anything is sent. */
import type { Json, JsonObject } from "../../../src/model.ts";
import { asList } from "../../mapping/codecs.ts";
import type { Failure } from "../../mapping/kind.ts";
import { isObject, isUnknown } from "../../mapping/values.ts";

const some = (value: Json | undefined) => value !== undefined && value !== null;

function fillAutoscaling(options: Json | undefined): Json | undefined {
  if (!isObject(options) || !isObject(options.autoscaling)) return options;
  const { autoscaling } = options;
  if (isUnknown(autoscaling.multis) || isUnknown(autoscaling.keda)) return options;
  if (asList(autoscaling.multis).length > 0 || some(autoscaling.keda)) return options;
  const metric = autoscaling.metric ?? "concurrency";
  const target = autoscaling.target ?? (metric === "keda" ? undefined : 95);
  return { ...options, autoscaling: { ...autoscaling, metric, ...(target === undefined ? {} : { target }) } };
}

/** A probe without a port takes the container's first. */
function fillProbe(probe: Json | undefined, port: Json | undefined): Json | undefined {
  if (!isObject(probe) || port === undefined) return probe;
  return Object.fromEntries(
    Object.entries(probe).map(([key, value]) =>
      ["grpc", "tcpSocket", "httpGet"].includes(key) && isObject(value)
        ? [key, { ...value, port: value.port ?? port }]
        : [key, value],
    ),
  );
}

function fillContainer(container: Json): Json {
  if (!isObject(container)) return container;
  const first = asList(container.ports)[0];
  const port = isObject(first) ? first.number : (container.port ?? undefined);
  const filled = { ...container };
  for (const key of ["readinessProbe", "livenessProbe"] as const)
    if (some(filled[key])) filled[key] = fillProbe(filled[key], port);
  return filled;
}

export function fillWorkload(inputs: JsonObject): JsonObject {
  const filled = { ...inputs };
  if (some(inputs.options)) filled.options = fillAutoscaling(inputs.options);
  if (Array.isArray(inputs.localOptions))
    filled.localOptions = inputs.localOptions.map((item) => fillAutoscaling(item) ?? null);
  if (Array.isArray(inputs.containers)) filled.containers = inputs.containers.map(fillContainer);
  return filled;
}

function checkOptions(property: string, options: Json | undefined): Failure[] {
  if (!isObject(options)) return [];
  if (!some(options.autoscaling))
    return [{ property, reason: "an `autoscaling` block is needed here, empty if need be" }];
  const { autoscaling } = options;
  if (isObject(autoscaling) && asList(autoscaling.multis).length > 0 && some(autoscaling.metric))
    return [{ property: `${property}.autoscaling`, reason: "`metric` and `multis` exclude each other" }];
  return [];
}

export function checkWorkload(inputs: JsonObject): Failure[] {
  const failures = [
    ...checkOptions("options", inputs.options),
    ...asList(inputs.localOptions).flatMap((item, index) => checkOptions(`localOptions[${index}]`, item)),
  ];
  const rollout = asList(inputs.rolloutOptions)[0];
  if (inputs.type === "stateful" && isObject(rollout) && some(rollout.maxUnavailableReplicas))
    failures.push({
      property: "rolloutOptions[0].maxUnavailableReplicas",
      reason: "a stateful workload takes none",
    });
  if (inputs.type === "cron" && asList(inputs.jobs).length === 0 && !isUnknown(inputs.jobs))
    failures.push({ property: "jobs", reason: "a cron workload needs a job" });
  return failures;
}
