/** What the platform says about a workload: only ever outputs. */
import { wrapped } from "../../mapping/codecs.ts";
import { block, blocks, flag, integer, map, text, texts } from "../../mapping/fields.ts";

export const statuses = blocks(
  "WorkloadStatus",
  {
    parentId: text(),
    canonicalEndpoint: text(),
    endpoint: text(),
    internalName: text(),
    replicaInternalNames: texts(),
    currentReplicaCount: integer(),
    suspendedStatus: text(),
    loadBalancers: blocks(
      "WorkloadStatusLoadBalancer",
      { origin: text(), url: text() },
      { wire: "loadBalancer" },
    ),
    healthChecks: blocks(
      "WorkloadStatusHealthCheck",
      {
        active: flag(),
        success: flag(),
        code: integer(),
        message: text(),
        failures: integer(),
        successes: integer(),
        lastChecked: text(),
      },
      { wire: "healthCheck", codec: wrapped },
    ),
    resolvedImages: blocks(
      "WorkloadStatusResolvedImage",
      {
        resolvedForVersion: integer(),
        resolvedAt: text(),
        errorMessages: texts(),
        nextRetryAt: text(),
        images: blocks("WorkloadStatusResolvedImageImage", {
          digest: text(),
          manifests: blocks("WorkloadStatusResolvedImageImageManifest", {
            image: text(),
            mediaType: text(),
            digest: text(),
            platform: map(),
          }),
        }),
      },
      { codec: wrapped },
    ),
  },
  { wire: "status", computed: true, filled: true, codec: wrapped },
);

export const health = block(
  "getWorkloadHealth",
  {
    readiness: text({ filled: true }),
    syncFailed: flag({ filled: true }),
    readyLocations: integer({ filled: true }),
    totalLocations: integer({ filled: true }),
    readyReplicas: integer({ filled: true }),
    totalReplicas: integer({ filled: true }),
  },
  { computed: true, filled: true },
);
