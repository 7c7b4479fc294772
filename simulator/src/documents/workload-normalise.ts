/** A workload as the platform keeps it: what it fills in, sorts, resolves and drops. Seen on the platform. */
import type { Json, JsonObject, Resource, ResourceKey } from "../model.ts";
import { asArray, asObject, asTexts, isObject } from "./json.ts";
import { resolveLink } from "./links.ts";

export function normaliseWorkload(workload: Resource, key: ResourceKey): Resource {
  const spec = asObject(workload.spec);
  const type = spec.type ?? "serverless";
  return { ...workload, spec: drop({ ...spec, type, ...specMembers(spec, String(type), key) }) };
}

function specMembers(spec: JsonObject, type: string, key: ResourceKey): JsonObject {
  return {
    identityLink:
      typeof spec.identityLink === "string"
        ? (resolveLink(spec.identityLink, key) ?? spec.identityLink)
        : undefined,
    containers: asArray(spec.containers).map((container) => normaliseContainer(asObject(container))),
    firewallConfig: isObject(spec.firewallConfig) ? normaliseFirewall(spec.firewallConfig) : undefined,
    defaultOptions: isObject(spec.defaultOptions) ? normaliseOptions(spec.defaultOptions, type) : undefined,
    localOptions: Array.isArray(spec.localOptions)
      ? spec.localOptions.map((item) => normaliseLocal(asObject(item), type, key))
      : undefined,
    rolloutOptions: isObject(spec.rolloutOptions) ? normaliseRollout(spec.rolloutOptions, type) : undefined,
  };
}

function normaliseContainer(container: JsonObject): JsonObject {
  const env = asArray(container.env).map(asObject);
  return drop({
    cpu: "50m",
    memory: "128Mi",
    inheritEnv: false,
    ...container,
    ports: Array.isArray(container.ports)
      ? container.ports.map((port) => ({ protocol: "http", ...asObject(port) }))
      : undefined,
    env:
      container.env === undefined
        ? undefined
        : [...env].sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1)),
    readinessProbe: normaliseProbe(container.readinessProbe, 10),
    livenessProbe: normaliseProbe(container.livenessProbe, 60),
  });
}

const normaliseProbe = (probe: Json | undefined, initialDelaySeconds: number): JsonObject | undefined =>
  isObject(probe) ? { initialDelaySeconds, ...probe } : undefined;

/** CIDR lists lose their duplicates and are sorted. A block that is absent stays absent: closed. */
function normaliseFirewall(firewall: JsonObject): JsonObject {
  const { external, internal } = firewall;
  const lists = ["inboundAllowCIDR", "inboundBlockedCIDR", "outboundAllowCIDR", "outboundBlockedCIDR"];
  const sorted = (block: JsonObject) =>
    Object.fromEntries(
      lists
        .filter((name) => block[name] !== undefined)
        .map((name) => [name, [...new Set(asTexts(block[name]))].sort()]),
    );
  return drop({
    ...firewall,
    external: isObject(external) ? { ...external, ...sorted(external) } : undefined,
    internal: isObject(internal) ? { inboundAllowType: "none", ...internal } : undefined,
  });
}

/** A standard workload with Capacity AI on and no metric ends up with none at all. */
function normaliseOptions(options: JsonObject, type: string): JsonObject {
  const scaling = asObject(options.autoscaling);
  const unset = type === "standard" && options.capacityAI === true && scaling.metric === undefined;
  const multi = asArray(scaling.multi).length > 0;
  return unset && !multi ? { ...options, autoscaling: { ...scaling, metric: "disabled" } } : options;
}

function normaliseLocal(item: JsonObject, type: string, key: ResourceKey): JsonObject {
  const { location } = item;
  const full = typeof location === "string" ? (resolveLink(location, key) ?? location) : location;
  return { ...normaliseOptions(item, type), location: full };
}

function normaliseRollout(rollout: JsonObject, type: string): JsonObject {
  const kept = { terminationGracePeriodSeconds: 90, ...rollout };
  return type === "stateful" ? drop({ ...kept, maxUnavailableReplicas: undefined }) : kept;
}

const drop = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
