import { asArray, asObject, asTexts, at } from "../documents/json.ts";
import { lastSegment, selfLink } from "../documents/links.ts";
import type { JsonObject, Platform, ResourceKey, Store } from "../model.ts";

/**
 * A platform on which nothing runs: the API alone, for work on documents (the provider, permissions, a look at what
 * a program deploys). Every location reports no replica; a suspended workload says so.
 */
export function documentsOnly(store: Store): Platform {
  const locations = (key: ResourceKey): string[] => {
    const gvc = key.gvc === undefined ? undefined : store.get({ org: key.org, kind: "gvc", name: key.gvc });
    return asTexts(at(gvc, "spec.staticPlacement.locationLinks")).map(lastSegment);
  };
  const suspended = (key: ResourceKey) => at(store.get(key), "spec.defaultOptions.suspend") === true;
  return {
    workloadStatus: (key) => ({
      status: {
        parentId: store.get({ org: key.org, kind: "gvc", name: key.gvc ?? "" })?.id ?? "",
        internalName: `${key.name}.${key.gvc}.cpln.local`,
        replicaInternalNames: [],
        currentReplicaCount: 0,
        loadBalancer: [],
        suspendedStatus: suspended(key) ? "suspended" : "notSuspended",
      },
      health: {
        readiness: "0/0",
        syncFailed: false,
        readyLocations: 0,
        totalLocations: locations(key).length,
      },
    }),
    deployments: (key) => locations(key).map((name) => deployment(name, key, store)),
    replicas: () => [],
    stopReplica: (key) => {
      throw new Error(`${selfLink(key)} has no replicas`);
    },
    workloadOf: () => undefined,
  };
}

function deployment(name: string, key: ResourceKey, store: Store): JsonObject {
  const workload = store.get(key);
  const version = workload?.version ?? 0;
  const containers = asArray(at(workload, "spec.containers")).map(asObject);
  const idle = (container: JsonObject): JsonObject => ({
    name: container.name,
    image: container.image,
    ready: false,
    message: "",
    resources: { replicas: 0, replicasReady: 0 },
  });
  return {
    name,
    kind: "deployment",
    lastModified: workload?.lastModified,
    status: {
      endpoint: "",
      lastProcessedVersion: version,
      expectedDeploymentVersion: version,
      internal: {},
      ready: false,
      deploying: false,
      message: "nothing runs here: documents only",
      versions: [
        {
          name: `${key.name}-${version}`,
          workload: version,
          ready: false,
          containers: Object.fromEntries(
            containers.map((container) => [String(container.name), idle(container)]),
          ),
        },
      ],
    },
  };
}
