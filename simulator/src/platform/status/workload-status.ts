import type { JsonObject, ResourceKey } from "../../model.ts";
import type { BalancedPort } from "../../network/load-balancer.ts";
import { isLive, isReady, type LocationState } from "../transitions/state.ts";

export interface WorkloadFacts {
  key: ResourceKey;
  /** The GVC's id, where the document is there. */
  parentId: string;
  gvcAlias: string;
  /** First port of the direct load balancer that is open, and where. */
  balanced: { port: BalancedPort; localPort: number } | undefined;
  /** Local addresses of every open load balancer port, over all locations. */
  balancers: { location: string; port: BalancedPort; localPort: number }[];
  replicaDirect: boolean;
}

/** The `status` and `health` blocks of a workload document. */
export function workloadStatus(
  states: LocationState[],
  facts: WorkloadFacts,
): { status: JsonObject; health: JsonObject } {
  const { org, gvc = "", name } = facts.key;
  const replicas = states
    .flatMap((state) => state.replicas.filter(isLive))
    .filter((replica) => replica.blockedBy?.kind !== "quota");
  const ready = replicas.filter(isReady);
  const active = states.filter(({ spec }) => spec !== undefined && !spec.suspended && spec.replicas > 0);
  const readyLocations = active.filter(
    (state) => state.replicas.filter(isReady).length >= (state.spec?.replicas ?? 1),
  );
  const endpoint = publicEndpoint(facts);
  const internalName = `${name}.${gvc}.cpln.local`;
  return {
    status: {
      parentId: facts.parentId,
      canonicalEndpoint: canonicalEndpoint(facts),
      endpoint,
      internalName,
      replicaInternalNames: facts.replicaDirect
        ? states.flatMap((state) =>
            state.replicas
              .filter(isLive)
              .map((item) => `replica-${item.index}.${name}.${state.location}.${gvc}.cpln.local`),
          )
        : [],
      currentReplicaCount: replicas.length,
      healthCheck: {
        active: false,
        success: ready.length > 0,
        code: ready.length > 0 ? 200 : 503,
        message: "",
        failures: 0,
        successes: ready.length > 0 ? 1 : 0,
      },
      loadBalancer: facts.balancers.map(({ location, port, localPort }) => ({
        origin: `/org/${org}/location/${location}`,
        url: `${port.scheme}://127.0.0.1:${localPort}`,
      })),
      resolvedImages: {},
      suspendedStatus: suspendedStatus(states),
    },
    health: {
      readiness: active.length === readyLocations.length ? "ready" : "notReady",
      syncFailed: false,
      readyLocations: readyLocations.length,
      totalLocations: states.length,
      readyReplicas: ready.length,
      totalReplicas: replicas.length,
    },
  };
}

export function suspendedStatus(
  states: LocationState[],
): "notSuspended" | "partiallySuspended" | "suspended" {
  const suspended = states.filter((state) => state.spec?.suspended === true).length;
  if (suspended === 0) return "notSuspended";
  return suspended === states.length ? "suspended" : "partiallySuspended";
}

/** The HTTPS name that every workload has; nothing listens behind it here. */
export function publicEndpoint(facts: WorkloadFacts): string {
  return `https://${facts.key.name}-${facts.gvcAlias}.cpln.app`;
}

/** With a direct load balancer its first port takes the place of that name. */
export function canonicalEndpoint(facts: WorkloadFacts): string {
  const { balanced } = facts;
  return balanced === undefined
    ? publicEndpoint(facts)
    : `${balanced.port.scheme}://127.0.0.1:${balanced.localPort}`;
}
