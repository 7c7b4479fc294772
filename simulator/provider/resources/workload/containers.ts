/** The container part of a workload's table. */
import { namedValues } from "../../mapping/codecs.ts";
import { block, blocks, flag, integer, map, text, texts } from "../../mapping/fields.ts";

const exec = (type: string) => block(type, { commands: texts({ required: true, wire: "command" }) });

const probe = (type: string, initialDelaySeconds: number) =>
  block(type, {
    exec: exec(`${type}Exec`),
    grpc: block(`${type}Grpc`, { port: integer() }),
    tcpSocket: block(`${type}TcpSocket`, { port: integer() }),
    httpGet: block(`${type}HttpGet`, {
      httpHeaders: map({ codec: namedValues }),
      path: text({ default: "/" }),
      port: integer(),
      scheme: text({ default: "HTTP" }),
    }),
    initialDelaySeconds: integer({ default: initialDelaySeconds }),
    periodSeconds: integer({ default: 10 }),
    timeoutSeconds: integer({ default: 1 }),
    successThreshold: integer({ default: 1 }),
    failureThreshold: integer({ default: 3 }),
  });

export const containers = blocks(
  "WorkloadContainer",
  {
    name: text({ required: true }),
    image: text(),
    cpu: text({ default: "50m" }),
    memory: text({ default: "128Mi" }),
    minCpu: text(),
    minMemory: text(),
    command: text(),
    args: texts(),
    env: map({ codec: namedValues }),
    inheritEnv: flag({ default: false }),
    workingDirectory: text({ wire: "workingDir" }),
    port: integer(),
    ports: blocks("WorkloadContainerPort", {
      number: integer({ required: true }),
      protocol: text({ default: "http" }),
    }),
    metrics: block("WorkloadContainerMetrics", {
      port: integer({ required: true }),
      path: text({ required: true }),
      dropMetrics: texts({ unordered: true }),
    }),
    readinessProbe: probe("WorkloadContainerReadinessProbe", 10),
    livenessProbe: probe("WorkloadContainerLivenessProbe", 60),
    lifecycle: block("WorkloadContainerLifecycle", {
      postStart: block("WorkloadContainerLifecyclePostStart", {
        exec: exec("WorkloadContainerLifecyclePostStartExec"),
      }),
      preStop: block("WorkloadContainerLifecyclePreStop", {
        exec: exec("WorkloadContainerLifecyclePreStopExec"),
      }),
    }),
    volumes: blocks(
      "WorkloadContainerVolume",
      {
        uri: text({ required: true }),
        path: text(),
        recoveryPolicy: text({ default: "retain" }),
      },
      { unordered: true },
    ),
    gpuNvidia: block(
      "WorkloadContainerGpuNvidia",
      { model: text({ required: true }), quantity: integer({ required: true }) },
      { wire: "gpu.nvidia" },
    ),
    gpuCustom: block(
      "WorkloadContainerGpuCustom",
      {
        resource: text({ required: true }),
        quantity: integer({ required: true }),
        runtimeClass: text(),
      },
      { wire: "gpu.custom" },
    ),
  },
  { wire: "spec.containers" },
);
