/** What a workload's default options and its per-location options share. */
import { locationName } from "../../mapping/codecs.ts";
import { block, blocks, flag, integer, map, text } from "../../mapping/fields.ts";

const keda = (type: string) =>
  block(type, {
    triggers: blocks(`${type}Trigger`, {
      type: text({ required: true }),
      name: text(),
      metadata: map(),
      metricType: text(),
      useCachedMetrics: flag(),
      authenticationRef: block(`${type}TriggerAuthenticationRef`, { name: text({ required: true }) }),
    }),
    advanced: block(`${type}Advanced`, {
      scalingModifiers: block(`${type}AdvancedScalingModifiers`, {
        activationTarget: text(),
        formula: text(),
        metricType: text(),
        target: text(),
      }),
    }),
    fallback: block(`${type}Fallback`, {
      failureThreshold: integer({ required: true }),
      replicas: integer({ required: true }),
      behavior: text(),
    }),
    pollingInterval: integer(),
    cooldownPeriod: integer(),
    initialCooldownPeriod: integer(),
  });

const optionFields = (type: string) => ({
  autoscaling: block(`${type}Autoscaling`, {
    metric: text(),
    metricPercentile: text(),
    target: integer(),
    minScale: integer({ default: 1 }),
    maxScale: integer({ default: 5 }),
    scaleToZeroDelay: integer({ default: 300 }),
    maxConcurrency: integer({ default: 0 }),
    multis: blocks(`${type}AutoscalingMulti`, { metric: text(), target: integer() }, { wire: "multi" }),
    keda: keda(`${type}AutoscalingKeda`),
  }),
  timeoutSeconds: integer({ default: 5 }),
  capacityAi: flag({ default: true, wire: "capacityAI" }),
  capacityAiUpdateMinutes: integer({ wire: "capacityAIUpdateMinutes" }),
  debug: flag({ default: false }),
  suspend: flag({ default: false }),
  multiZone: block(`${type}MultiZone`, { enabled: flag() }),
});

export const options = block("WorkloadOptions", optionFields("WorkloadOptions"), {
  wire: "spec.defaultOptions",
});

export const localOptions = blocks(
  "WorkloadLocalOption",
  {
    location: text({ required: true, codec: locationName }),
    ...optionFields("WorkloadLocalOption"),
  },
  { wire: "spec.localOptions" },
);
