/** What the platform refuses in a workload, beyond types and ranges. Pure: everything is in the document. */
import type { JsonObject, Resource } from "../model.ts";
import { asArray, asObject, asTexts, isObject } from "./json.ts";
import { containerNameProblem } from "./names.ts";
import { cpuMillis, memoryMebibytes } from "./quantities.ts";
import type { Problem } from "./schema.ts";

export const reservedPorts: readonly number[] = [
  8012, 8022, 9090, 9091, 15000, 15001, 15006, 15020, 15021, 15090, 41000,
];

type Report = (path: string, message: string) => void;

export function workloadProblems(workload: Resource, before: Resource | undefined): Problem[] {
  const problems: Problem[] = [];
  const report: Report = (path, message) => void problems.push({ path, message: `"${path}" ${message}` });
  const spec = asObject(workload.spec);
  const type = String(spec.type);
  const was = asObject(before?.spec).type;
  if (was !== undefined && was !== type)
    report("spec.type", `cannot be changed from ${String(was)} to ${type}`);
  const containers = asArray(spec.containers).map(asObject);
  containers.forEach((container, index) => {
    checkContainer(container, `spec.containers[${index}]`, type, asObject(workload.tags), report);
  });
  checkPorts(containers, type, report);
  const gpu = containers.some((container) => container.gpu !== undefined);
  checkOptions(asObject(spec.defaultOptions), "spec.defaultOptions", type, gpu, report);
  const seen = new Set<unknown>();
  asArray(spec.localOptions)
    .map(asObject)
    .forEach((item, index) => {
      if (seen.has(item.location))
        report(`spec.localOptions[${index}].location`, "contains a duplicate value");
      seen.add(item.location);
      checkOptions(item, `spec.localOptions[${index}]`, type, gpu, report);
    });
  checkFirewall(asObject(asObject(spec.firewallConfig).internal), report);
  checkBalancer(asObject(spec.loadBalancer), type, report);
  const grace = asObject(spec.rolloutOptions).terminationGracePeriodSeconds;
  const relaxed = flag(asObject(workload.tags)["cpln/relaxGracePeriodMax"]);
  if (typeof grace === "number" && grace > 900 && !relaxed) {
    report("spec.rolloutOptions.terminationGracePeriodSeconds", "must be less than or equal to 900");
  }
  if (type === "cron" && spec.job === undefined) report("spec.job", "is required");
  return problems;
}

function checkContainer(
  container: JsonObject,
  path: string,
  type: string,
  tags: JsonObject,
  report: Report,
): void {
  const name = containerNameProblem(String(container.name));
  if (name) report(`${path}.name`, name);
  asArray(container.env)
    .map(asObject)
    .forEach((entry, index) => {
      const reserved = ["K_SERVICE", "K_CONFIGURATION", "K_REVISION"].includes(String(entry.name));
      if (reserved || String(entry.name).startsWith("CPLN_"))
        report(`${path}.env[${index}].name`, "is reserved");
    });
  for (const probe of ["readinessProbe", "livenessProbe"])
    checkProbe(container[probe], `${path}.${probe}`, report);
  checkResources(container, path, type, tags, report);
}

function checkProbe(probe: unknown, path: string, report: Report): void {
  if (!isObject(probe)) return;
  const ways = ["exec", "grpc", "tcpSocket", "httpGet"].filter((way) => probe[way] !== undefined);
  if (ways.length !== 1) report(path, "must contain exactly one of [exec, grpc, tcpSocket, httpGet]");
  for (const way of ways) checkPort(asObject(probe[way]).port, `${path}.${way}.port`, report);
}

function checkPort(port: unknown, path: string, report: Report): void {
  if (typeof port === "number" && reservedPorts.includes(port))
    report(path, `must not be the reserved port ${port}`);
}

function checkResources(
  container: JsonObject,
  path: string,
  type: string,
  tags: JsonObject,
  report: Report,
): void {
  const cpu = cpuMillis(String(container.cpu)) ?? 0;
  const memory = memoryMebibytes(String(container.memory)) ?? 0;
  if (cpu < 25) report(`${path}.cpu`, "must be at least 25m");
  if (memory < 32) report(`${path}.memory`, "must be at least 32Mi");
  const ratio = flag(tags["cpln/relaxMemoryToCpuRatio"]) ? 32 : 8;
  if (cpu > 0 && memory / cpu > ratio) {
    report(`${path}.memory`, `must not be more than ${ratio} times the CPU, in Mi per millicore`);
  }
  for (const [name, max, gap, read] of [
    ["minCpu", cpu, 4000, cpuMillis],
    ["minMemory", memory, 4096, memoryMebibytes],
  ] as const) {
    const min = container[name] === undefined ? undefined : read(String(container[name]));
    if (min === undefined) continue;
    if (min > max) report(`${path}.${name}`, "must not be more than the maximum");
    else if (type === "stateful" && (max / min > 4 || max - min > gap)) {
      report(
        `${path}.${name}`,
        `of a stateful workload must be within a factor of 4 and ${gap} of the maximum`,
      );
    }
  }
}

function checkPorts(containers: readonly JsonObject[], type: string, report: Report): void {
  const seen = new Set<number>();
  let declared = 0;
  const take = (port: unknown, path: string): void => {
    if (typeof port !== "number") return;
    checkPort(port, path, report);
    if (seen.has(port)) report(path, `contains a duplicate port ${port}`);
    seen.add(port);
    declared += 1;
  };
  containers.forEach((container, index) => {
    const path = `spec.containers[${index}]`;
    checkPort(asObject(container.metrics).port, `${path}.metrics.port`, report);
    const ports = asArray(container.ports).map(asObject);
    ports.forEach((port, at) => {
      take(port.number, `${path}.ports[${at}].number`);
      if (type === "serverless" && port.protocol === "tcp") {
        report(`${path}.ports[${at}].protocol`, "of a serverless workload must not be tcp");
      }
    });
    // The deprecated single port may repeat what `ports` says.
    if (ports.every((port) => port.number !== container.port)) take(container.port, `${path}.port`);
  });
  if (type === "serverless" && declared !== 1) report("spec.containers", "must declare exactly one port");
  if (type === "cron" && declared > 0) report("spec.containers", "of a cron workload must not declare ports");
  const names = containers.map((container) => container.name);
  names.forEach((name, index) => {
    if (names.indexOf(name) < index) report(`spec.containers[${index}].name`, "contains a duplicate value");
  });
}

function checkOptions(options: JsonObject, path: string, type: string, gpu: boolean, report: Report): void {
  const scaling = asObject(options.autoscaling);
  const { metric } = scaling;
  const scaled = ["standard", "stateful"].includes(type);
  const under = `${path}.autoscaling`;
  if (metric === "concurrency" && type !== "serverless")
    report(`${under}.metric`, "concurrency is for serverless only");
  if ((metric === "latency" || metric === "keda") && !scaled) {
    report(`${under}.metric`, `${metric} is for standard and stateful only`);
  }
  if (asArray(scaling.multi).length > 0 && !scaled)
    report(`${under}.multi`, "is for standard and stateful only");
  const { minScale = 1, maxScale = 5 } = scaling as { minScale?: number; maxScale?: number };
  if (minScale > maxScale) report(`${under}.minScale`, "must be less than or equal to maxScale");
  // 0 and 0 is no scaling to zero but a switch-off, and is accepted.
  if (scaled && minScale === 0 && maxScale > 0 && metric !== "keda") {
    report(`${under}.minScale`, `0 on a ${type} workload needs the metric keda`);
  }
  if (options.capacityAI !== true) return;
  if (metric === "cpu") report(`${path}.capacityAI`, "cannot be used with the metric cpu");
  if (gpu) report(`${path}.capacityAI`, "cannot be used with a GPU");
}

const workloadLink =
  /^(\/\/gvc\/[^/]+\/workload\/[^/]+|\/org\/[^/]+\/gvc\/[^/]+\/workload\/[^/]+|\/\/agent\/[^/]+|cpln:\/\/internal\/keda)$/;

function checkFirewall(internal: JsonObject, report: Report): void {
  asTexts(internal.inboundAllowWorkload).forEach((entry, index) => {
    if (workloadLink.test(entry)) return;
    report(
      `spec.firewallConfig.internal.inboundAllowWorkload[${index}]`,
      `"${entry}" is not a workload link`,
    );
  });
}

function checkBalancer(balancer: JsonObject, type: string, report: Report): void {
  if (balancer.replicaDirect === true && type !== "stateful") {
    report("spec.loadBalancer.replicaDirect", "is for stateful workloads only");
  }
  const seen = new Set<string>();
  asArray(asObject(balancer.direct).ports)
    .map(asObject)
    .forEach((port, index) => {
      const path = `spec.loadBalancer.direct.ports[${index}]`;
      const key = `${port.protocol}:${port.externalPort}`;
      if (seen.has(key)) report(`${path}.externalPort`, "contains a duplicate value");
      seen.add(key);
      checkPort(port.containerPort, `${path}.containerPort`, report);
    });
}

const flag = (value: unknown): boolean => value === true || value === "true";
