import type * as pulumi from "@pulumi/pulumi";
import type * as cpln from "@pulumiverse/cpln";
import { DEFAULT_GRACE_SECONDS, DEFAULT_HEALTH_PORT, isInternal, type PlainArgs } from "./plain-args";
import { mappingsOf } from "./target-list";
import { defaultImage } from "./version";

/** The parts of the proxy workload, each from the arguments that it follows from. Pure. */

type Firewall = pulumi.Unwrap<NonNullable<cpln.WorkloadArgs["firewallSpec"]>>;
type LoadBalancer = pulumi.Unwrap<NonNullable<cpln.WorkloadArgs["loadBalancer"]>>;
type Options = pulumi.Unwrap<NonNullable<cpln.WorkloadArgs["options"]>>;
type LocalOptions = pulumi.Unwrap<NonNullable<cpln.WorkloadArgs["localOptions"]>>;
type RolloutOptions = pulumi.Unwrap<NonNullable<cpln.WorkloadArgs["rolloutOptions"]>>;
type Container = pulumi.Unwrap<NonNullable<cpln.WorkloadArgs["containers"]>>[number];

/** All that the proxy ever calls outside its GVC. */
const API_HOST = "api.cpln.io";
const MAIN = ["node", "/app/main.js"];

export const imageOf = ({ image }: Pick<PlainArgs, "image">): string => image ?? defaultImage;

export const sizeOf = ({ cpu, memory }: Pick<PlainArgs, "cpu" | "memory">) => ({
  cpu: cpu ?? "100m",
  memory: memory ?? "128Mi",
});

/** Anything but tcp would have the mesh read the bytes of a session as HTTP. */
export const containerPorts = (
  { exposeHealth, healthPort }: Pick<PlainArgs, "exposeHealth" | "healthPort">,
  listens: readonly number[],
): NonNullable<Container["ports"]> => [
  ...listens.map((number) => ({ number, protocol: "tcp" })),
  ...(exposeHealth === true ? [{ number: healthPort ?? DEFAULT_HEALTH_PORT, protocol: "http" }] : []),
];

/**
 * Ready means listening and not draining. Liveness is lax: a proxy that is throttled for a while must not be killed
 * together with the sessions it carries.
 */
export function probes({
  healthPort,
}: Pick<PlainArgs, "healthPort">): Required<Pick<Container, "readinessProbe" | "livenessProbe">> {
  const port = healthPort ?? DEFAULT_HEALTH_PORT;
  return {
    readinessProbe: {
      httpGet: { path: "/readyz", port, scheme: "HTTP" },
      initialDelaySeconds: 1,
      periodSeconds: 5,
      timeoutSeconds: 5,
      failureThreshold: 2,
      successThreshold: 1,
    },
    livenessProbe: {
      httpGet: { path: "/healthz", port, scheme: "HTTP" },
      initialDelaySeconds: 10,
      periodSeconds: 20,
      timeoutSeconds: 10,
      failureThreshold: 5,
      successThreshold: 1,
    },
  };
}

/** The image's own command, which blocks while sessions drain; the platform's default wants a shell. */
export const lifecycle = (): NonNullable<Container["lifecycle"]> => ({
  preStop: { exec: { commands: [...MAIN, "prestop"] } },
});

/** In: exactly who was named. Out: the API alone. */
export function firewallSpec(args: Pick<PlainArgs, "expose" | "allow" | "allowWorkloads">): Firewall {
  return {
    external: {
      inboundAllowCidrs: isInternal(args) ? [] : (args.allow ?? []),
      outboundAllowHostnames: [API_HOST],
    },
    internal: internalFirewall(args),
  };
}

function internalFirewall(
  args: Pick<PlainArgs, "expose" | "allowWorkloads">,
): NonNullable<Firewall["internal"]> {
  if (args.allowWorkloads !== undefined) {
    return { inboundAllowType: "workload-list", inboundAllowWorkloads: args.allowWorkloads };
  }
  return { inboundAllowType: isInternal(args) ? "same-gvc" : "none" };
}

/** One port a mapping; none at all for a proxy that only its GVC reaches. */
export function loadBalancer(
  args: Pick<PlainArgs, "expose" | "ports" | "targets" | "ipset">,
  listens: readonly number[],
): LoadBalancer | undefined {
  if (isInternal(args)) return undefined;
  const ports = mappingsOf(args).map(({ mapping: { port = 0 } }, index) => ({
    externalPort: port,
    protocol: "TCP",
    scheme: "tcp",
    containerPort: listens[index] ?? port,
  }));
  return { direct: { enabled: true, ...(args.ipset === undefined ? {} : { ipset: args.ipset }), ports } };
}

/** Always on, one replica, never moved by usage: it is the floor that the target's scale to zero stands on. */
const fixed = (scale: number): Options => ({
  autoscaling: { metric: "disabled", minScale: scale, maxScale: scale },
  capacityAi: false,
  suspend: false,
});

export const options = ({ location }: Pick<PlainArgs, "location">): Options =>
  fixed(location === undefined ? 1 : 0);

export const localOptions = ({ location }: Pick<PlainArgs, "location">): LocalOptions | undefined =>
  location === undefined ? undefined : [{ location, ...fixed(1) }];

/** The new replica is there before the old one goes: no moment without a listener. */
export const rolloutOptions = ({
  terminationGracePeriodSeconds,
}: Pick<PlainArgs, "terminationGracePeriodSeconds">): RolloutOptions => [
  {
    maxSurgeReplicas: "1",
    maxUnavailableReplicas: "0",
    terminationGracePeriodSeconds: terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
  },
];
