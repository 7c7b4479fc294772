import { createHash } from "node:crypto";
import { canonical } from "../documents/json.ts";
import type { JsonObject, Resource } from "../model.ts";
import { boolean, lastSegment, list, number, object, text, texts } from "./json.ts";

/** What one location is to run, read from a workload document. Everything optional on the wire is settled here. */
export interface LocationSpec {
  workloadVersion: number;
  gvcVersion: number;
  type: string;
  suspended: boolean;
  /** By the location's own options, rather than by the defaults. */
  suspendedLocally: boolean;
  replicas: number;
  /** Changes exactly when running replicas must be replaced. */
  template: string;
  containers: ContainerSpec[];
  graceMs: number;
  minReadyMs: number;
  surge: number;
  unavailable: number;
  /** One replica at a time, by index, each waiting for the one before it. */
  ordered: boolean;
}

export interface ContainerSpec {
  name: string;
  image: string;
  ports: PortSpec[];
  command?: string;
  args: string[];
  workingDir?: string;
  env: { name: string; value: string }[];
  inheritEnv: boolean;
  memoryBytes: number;
  readiness?: ProbeSpec;
  liveness?: ProbeSpec;
  preStop?: string[];
  postStart?: string[];
  volumes: { uri: string; path: string }[];
}

export interface PortSpec {
  number: number;
  protocol: string;
}

export interface ProbeSpec {
  action:
    | { kind: "exec"; command: string[] }
    | { kind: "tcp"; port: number }
    | { kind: "http"; port: number; path: string; headers: { name: string; value: string }[] };
  initialDelayMs: number;
  periodMs: number;
  timeoutMs: number;
  successThreshold: number;
  failureThreshold: number;
}

export interface SpecLimits {
  graceMs?: number | undefined;
  probeTimeScale: number;
  maxReplicas: number;
}

export function readLocationSpec(
  workload: Resource,
  gvcVersion: number,
  location: string,
  limits: SpecLimits,
): LocationSpec {
  const spec = object(workload.spec);
  const options = locationOptions(spec, location);
  const type = text(spec.type) ?? "serverless";
  const rollout = object(spec.rolloutOptions);
  const replicas = type === "cron" ? 0 : desiredReplicas(object(options.autoscaling), limits.maxReplicas);
  const stateful = type === "stateful";
  const containers = list(spec.containers).map((item) => readContainer(object(item), limits.probeTimeScale));
  return {
    workloadVersion: workload.version,
    gvcVersion,
    type,
    suspended: boolean(options.suspend) ?? false,
    suspendedLocally: boolean(ownOptions(spec, location).suspend) ?? false,
    replicas,
    template: templateOf(workload, spec),
    containers,
    graceMs: limits.graceMs ?? (number(rollout.terminationGracePeriodSeconds) ?? 90) * 1000,
    minReadyMs: (number(rollout.minReadySeconds) ?? 0) * 1000,
    surge: stateful ? 0 : share(rollout.maxSurgeReplicas, replicas, "up"),
    unavailable: stateful ? 1 : share(rollout.maxUnavailableReplicas, replicas, "down"),
    ordered: stateful && text(rollout.scalingPolicy) !== "Parallel",
  };
}

/** Fields of a location's own options win, one by one, over the defaults. */
export function locationOptions(spec: JsonObject, location: string): JsonObject {
  return { ...object(spec.defaultOptions), ...ownOptions(spec, location) };
}

function ownOptions(spec: JsonObject, location: string): JsonObject {
  const items = list(spec.localOptions).map(object);
  return items.find((item) => lastSegment(text(item.location) ?? "") === location) ?? {};
}

function desiredReplicas(autoscaling: JsonObject, cap: number): number {
  const min = number(autoscaling.minScale) ?? 1;
  const max = number(autoscaling.maxScale) ?? 5;
  return max === 0 ? 0 : Math.min(Math.max(min, 1), cap);
}

/** A count or a percentage of the replicas. Kubernetes' own default is a quarter; surge rounds up, the other down. */
function share(value: unknown, replicas: number, round: "up" | "down"): number {
  const written = typeof value === "number" ? String(value) : (text(value) ?? "25%");
  const percent = /^(\d+)%$/.exec(written)?.[1];
  if (percent === undefined) return number(written) ?? 0;
  const exact = (Number(percent) / 100) * replicas;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}

function templateOf(workload: Resource, spec: JsonObject): string {
  const tags = object(workload.tags);
  const rolled = {
    type: spec.type,
    containers: spec.containers,
    identityLink: spec.identityLink,
    securityOptions: spec.securityOptions,
    sidecar: spec.sidecar,
    loadBalancer: spec.loadBalancer,
    extras: spec.extras,
    redeploy: tags["cpln/deployTimestamp"],
  };
  return createHash("sha256").update(canonical(rolled)).digest("hex").slice(0, 10);
}

function readContainer(container: JsonObject, probeTimeScale: number): ContainerSpec {
  const ports = list(container.ports)
    .map(object)
    .map((port) => ({ number: number(port.number) ?? 0, protocol: text(port.protocol) ?? "http" }));
  const single = number(container.port);
  if (single !== undefined && !ports.some((port) => port.number === single)) {
    ports.push({ number: single, protocol: "http" });
  }
  const lifecycle = object(container.lifecycle);
  const command = text(container.command);
  const workingDir = text(container.workingDir);
  const readiness = readProbe(container.readinessProbe, ports, 10, probeTimeScale);
  const liveness = readProbe(container.livenessProbe, ports, 60, probeTimeScale);
  const preStop = hook(lifecycle.preStop);
  const postStart = hook(lifecycle.postStart);
  return {
    name: text(container.name) ?? "main",
    image: text(container.image) ?? "",
    ports,
    args: texts(container.args),
    env: list(container.env)
      .map(object)
      .map((item) => ({ name: text(item.name) ?? "", value: String(item.value ?? "") }))
      .filter((item) => item.name !== ""),
    inheritEnv: boolean(container.inheritEnv) ?? false,
    memoryBytes: bytes(text(container.memory) ?? "128Mi"),
    volumes: list(container.volumes)
      .map(object)
      .map((volume) => ({ uri: text(volume.uri) ?? "", path: text(volume.path) ?? "" })),
    ...(command === undefined ? {} : { command }),
    ...(workingDir === undefined ? {} : { workingDir }),
    ...(readiness === undefined ? {} : { readiness }),
    ...(liveness === undefined ? {} : { liveness }),
    ...(preStop === undefined ? {} : { preStop }),
    ...(postStart === undefined ? {} : { postStart }),
  };
}

function hook(value: unknown): string[] | undefined {
  const command = texts(object(object(value).exec).command);
  return command.length > 0 ? command : undefined;
}

function readProbe(
  value: unknown,
  ports: PortSpec[],
  initialDelaySeconds: number,
  scale: number,
): ProbeSpec | undefined {
  const probe = object(value);
  const action = probeAction(probe, ports);
  if (action === undefined) return undefined;
  return {
    action,
    initialDelayMs: (number(probe.initialDelaySeconds) ?? initialDelaySeconds) * 1000 * scale,
    periodMs: Math.max(1, (number(probe.periodSeconds) ?? 10) * 1000 * scale),
    timeoutMs: (number(probe.timeoutSeconds) ?? 1) * 1000,
    successThreshold: number(probe.successThreshold) ?? 1,
    failureThreshold: number(probe.failureThreshold) ?? 3,
  };
}

function probeAction(probe: JsonObject, ports: PortSpec[]): ProbeSpec["action"] | undefined {
  const first = ports[0]?.number ?? 80;
  if (probe.exec !== undefined) return { kind: "exec", command: texts(object(probe.exec).command) };
  if (probe.tcpSocket !== undefined) {
    return { kind: "tcp", port: number(object(probe.tcpSocket).port) ?? first };
  }
  // A gRPC health service is not imitated; that its port takes connections is the nearest honest answer.
  if (probe.grpc !== undefined) return { kind: "tcp", port: number(object(probe.grpc).port) ?? first };
  if (probe.httpGet === undefined) return undefined;
  const get = object(probe.httpGet);
  return {
    kind: "http",
    port: number(get.port) ?? first,
    path: text(get.path) ?? "/",
    headers: list(get.httpHeaders)
      .map(object)
      .map((header) => ({ name: text(header.name) ?? "", value: String(header.value ?? "") }))
      .filter((header) => header.name !== ""),
  };
}

const units: Record<string, number> = {
  "": 1,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

export function bytes(quantity: string): number {
  const parsed = /^([0-9.]+)([A-Za-z]*)$/.exec(quantity.trim());
  const unit = units[parsed?.[2] ?? ""];
  return parsed?.[1] === undefined || unit === undefined
    ? 128 * 2 ** 20
    : Math.round(Number(parsed[1]) * unit);
}
