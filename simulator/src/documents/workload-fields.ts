/** The members of a workload's `spec`, with their types, ranges and choices. */
import { quantityPattern } from "./quantities.ts";
import { anything, bool, type Fields, int, list, oneOf, required, shape, text } from "./schema.ts";

const amount = text({ max: 20, pattern: quantityPattern });
const texts = list(text());
const link = text({ pattern: /^(\/\/|\/org\/).+/, hint: "must be a link" });
/** Ranges of ports, without the reserved ones: those are a rule across the document (workload-rules.ts). */
const port = int(80, 65535);

const exec = shape({ command: required(list(text(), { min: 1 })) });
const probe = shape({
  exec,
  grpc: shape({ port }),
  tcpSocket: shape({ port }),
  httpGet: shape({
    path: text({ max: 256 }),
    port,
    httpHeaders: list(shape({ name: required(text()), value: required(text()) })),
    scheme: oneOf("HTTP", "HTTPS"),
  }),
  initialDelaySeconds: int(0, 600),
  periodSeconds: int(1, 600),
  timeoutSeconds: int(1, 600),
  successThreshold: int(1, 20),
  failureThreshold: int(1, 20),
});

const envName = text({ max: 120, pattern: /^[-._a-zA-Z][-._a-zA-Z0-9]*$/ });

export const containerFields: Fields = {
  name: required(text()),
  image: required(text({ min: 1 })),
  workingDir: text(),
  metrics: shape({ port: required(port), path: text({ max: 128 }), dropMetrics: texts }),
  port,
  ports: list(shape({ number: required(port), protocol: oneOf("http", "http2", "grpc", "tcp") })),
  memory: amount,
  cpu: amount,
  minCpu: amount,
  minMemory: amount,
  env: list(shape({ name: required(envName), value: text({ max: 4096 }) })),
  inheritEnv: bool,
  command: text({ max: 256 }),
  args: texts,
  readinessProbe: probe,
  livenessProbe: probe,
  gpu: shape({
    nvidia: shape({ model: required(text()), quantity: int(0, 8) }),
    custom: shape({ resource: required(text()), runtimeClass: text(), quantity: int(0) }),
  }),
  lifecycle: shape({ postStart: shape({ exec }), preStop: shape({ exec }) }),
  volumes: list(shape({ uri: required(text()), path: text(), recoveryPolicy: oneOf("retain", "recycle") }), {
    max: 15,
  }),
};

const autoscaling = shape({
  metric: oneOf("concurrency", "cpu", "memory", "rps", "latency", "keda", "disabled"),
  metricPercentile: oneOf("p50", "p75", "p99"),
  target: int(1, 20_000),
  minScale: int(0),
  maxScale: int(0),
  scaleToZeroDelay: int(30, 3600),
  maxConcurrency: int(0, 30_000),
  multi: list(shape({ metric: required(oneOf("cpu", "memory", "rps")), target: required(int(1, 20_000)) })),
  keda: anything,
});

const options: Fields = {
  autoscaling,
  timeoutSeconds: int(1, 3600),
  capacityAI: bool,
  capacityAIUpdateMinutes: int(2),
  spot: bool,
  debug: bool,
  suspend: bool,
  multiZone: shape({ enabled: bool }),
};

const headerFilter = shape({ key: required(text()), allowedValues: texts, blockedValues: texts });

const firewall = shape({
  external: shape({
    inboundAllowCIDR: list(text(), { max: 250 }),
    inboundBlockedCIDR: texts,
    outboundAllowCIDR: texts,
    outboundBlockedCIDR: texts,
    outboundAllowHostname: texts,
    outboundAllowPort: list(
      shape({ protocol: required(oneOf("http", "https", "tcp")), number: required(int(80, 65_000)) }),
    ),
    http: shape({ inboundHeaderFilter: list(headerFilter) }),
  }),
  internal: shape({
    inboundAllowType: oneOf("none", "same-gvc", "same-org", "workload-list"),
    inboundAllowWorkload: texts,
  }),
});

const balancer = shape({
  direct: shape({
    enabled: required(bool),
    ports: list(
      shape({
        externalPort: required(int(22, 32_768)),
        protocol: required(oneOf("TCP", "UDP")),
        scheme: oneOf("http", "tcp", "https", "ws", "wss"),
        containerPort: port,
      }),
    ),
    ipSet: text(),
  }),
  geoLocation: shape({
    enabled: bool,
    headers: shape({ asn: text(), city: text(), country: text(), region: text() }),
  }),
  replicaDirect: bool,
});

const retryOn = oneOf(
  "connect-failure",
  "refused-stream",
  "unavailable",
  "cancelled",
  "resource-exhausted",
  "retriable-status-codes",
);

export const workloadFields: Fields = {
  spec: required(
    shape({
      type: oneOf("serverless", "standard", "cron", "stateful", "vm"),
      identityLink: link,
      containers: required(list(shape(containerFields), { min: 1, max: 8 })),
      firewallConfig: firewall,
      defaultOptions: shape(options),
      localOptions: list(shape({ ...options, location: required(link) })),
      job: shape({
        schedule: required(text()),
        concurrencyPolicy: oneOf("Forbid", "Replace", "Allow"),
        historyLimit: int(1, 10),
        restartPolicy: oneOf("OnFailure", "Never"),
        activeDeadlineSeconds: int(1),
      }),
      sidecar: shape({ envoy: anything }),
      supportDynamicTags: bool,
      extras: anything,
      vm: anything,
      rolloutOptions: shape({
        minReadySeconds: int(0, 600),
        maxUnavailableReplicas: text({ max: 10 }),
        maxSurgeReplicas: text({ max: 10 }),
        scalingPolicy: oneOf("OrderedReady", "Parallel"),
        terminationGracePeriodSeconds: int(0, 3600),
      }),
      securityOptions: shape({ filesystemGroupId: int(1, 65_534), runAsUser: int(1, 65_534) }),
      loadBalancer: balancer,
      requestRetryPolicy: shape({ attempts: int(0), retryOn: list(retryOn) }),
    }),
  ),
};
