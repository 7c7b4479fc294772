/** What the checks need of a workload, whoever tells it: the platform's lookup, or a resource of the same program. */
export interface TargetDocument {
  type: string | undefined;
  ports: { number: number; protocol: string }[];
  /** From the start of a container to ready at the soonest, by its own readiness probe; 0 without one. */
  readyAfterMs: number;
  scale: { metric?: string; minScale?: number; maxScale?: number };
  /** The locations that have options of their own. */
  localOptions: string[];
  firewall: { inboundAllowType: string; inboundAllowWorkloads: string[] };
}

type Loose = Record<string, unknown>;

const PROBE = { initialDelaySeconds: 10, periodSeconds: 10, successThreshold: 1 };

/** Lookups answer blocks as lists (`firewallSpecs`), resources as themselves (`firewallSpec`). */
export function readWorkload(workload: object): TargetDocument {
  const given = workload as Loose;
  const options = block(given, "options", "options");
  const internal = block(block(given, "firewallSpec", "firewallSpecs"), "internal", "internals");
  const containers = list(given.containers);
  return {
    type: typeof given.type === "string" ? given.type : undefined,
    ports: containers.flatMap(portsOf),
    readyAfterMs: Math.max(0, ...containers.map(readyAfterMs)),
    scale: block(options, "autoscaling", "autoscalings") as TargetDocument["scale"],
    localOptions: list(given.localOptions).map(({ location }) => String(location)),
    firewall: {
      inboundAllowType: String(internal.inboundAllowType ?? "none"),
      inboundAllowWorkloads: texts(internal.inboundAllowWorkloads),
    },
  };
}

function portsOf(container: Loose): TargetDocument["ports"] {
  const declared = list(container.ports).map(({ number, protocol }) => ({
    number: Number(number),
    protocol: String(protocol ?? "http"),
  }));
  // The older way to declare the only one.
  return typeof container.port === "number" && container.port > 0
    ? [...declared, { number: container.port, protocol: "http" }]
    : declared;
}

function readyAfterMs(container: Loose): number {
  const probe = block(container, "readinessProbe", "readinessProbes");
  if (Object.keys(probe).length === 0) return 0;
  const { initialDelaySeconds, periodSeconds, successThreshold } = { ...PROBE, ...defined(probe) };
  return (initialDelaySeconds + (successThreshold - 1) * periodSeconds) * 1000;
}

const defined = (values: Loose): Loose =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === "number"));

const list = (value: unknown): Loose[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

function block(of: Loose, one: string, many: string): Loose {
  const value = of[many] ?? of[one];
  const found = Array.isArray(value) ? value[0] : value;
  return typeof found === "object" && found !== null ? (found as Loose) : {};
}
