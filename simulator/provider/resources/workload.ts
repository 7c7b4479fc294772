/** Workloads: the inputs of a program on one side, the `spec` of a document on the other. */
import { jsonText, link, wrapped } from "../mapping/codecs.ts";
import { entity, patchReplacing } from "../mapping/entity.ts";
import { block, blocks, type Fields, flag, integer, text, texts } from "../mapping/fields.ts";
import type { Lookup, ResourceKind } from "../mapping/kind.ts";
import { pluralised } from "../mapping/plural.ts";
import { containers } from "./workload/containers.ts";
import { checkWorkload, fillWorkload } from "./workload/inputs.ts";
import { firewallSpec, loadBalancer } from "./workload/network.ts";
import { localOptions, options } from "./workload/options.ts";
import { health, statuses } from "./workload/status.ts";

const fields: Fields = entity({
  gvc: text({ required: true, notEchoed: true }),
  type: text({ required: true, wire: "spec.type" }),
  identityLink: text({ wire: "spec.identityLink", codec: link }),
  supportDynamicTags: flag({ wire: "spec.supportDynamicTags", default: false, filled: true }),
  extras: text({ wire: "spec.extras", codec: jsonText }),
  containers,
  firewallSpec,
  options,
  localOptions,
  loadBalancer,
  jobs: blocks(
    "WorkloadJob",
    {
      schedule: text({ required: true }),
      concurrencyPolicy: text({ default: "Forbid" }),
      historyLimit: integer({ default: 5 }),
      restartPolicy: text({ default: "Never" }),
      activeDeadlineSeconds: integer(),
    },
    { wire: "spec.job", codec: wrapped },
  ),
  rolloutOptions: blocks(
    "WorkloadRolloutOption",
    {
      minReadySeconds: integer({ default: 0 }),
      maxUnavailableReplicas: text(),
      maxSurgeReplicas: text(),
      scalingPolicy: text({ default: "OrderedReady" }),
      terminationGracePeriodSeconds: integer({ default: 90 }),
    },
    { wire: "spec.rolloutOptions", codec: wrapped },
  ),
  securityOptions: block(
    "WorkloadSecurityOptions",
    { fileSystemGroupId: integer({ wire: "filesystemGroupId" }), runAsUser: integer() },
    { wire: "spec.securityOptions" },
  ),
  requestRetryPolicy: block(
    "WorkloadRequestRetryPolicy",
    {
      attempts: integer({ default: 2 }),
      retryOns: texts({
        wire: "retryOn",
        unordered: true,
        default: [
          "connect-failure",
          "refused-stream",
          "unavailable",
          "cancelled",
          "resource-exhausted",
          "retriable-status-codes",
        ],
      }),
    },
    { wire: "spec.requestRetryPolicy" },
  ),
  sidecar: block(
    "WorkloadSidecar",
    { envoy: text({ required: true, codec: jsonText }) },
    { wire: "spec.sidecar" },
  ),
  statuses,
});

export const resource: ResourceKind = {
  token: "cpln:index/workload:Workload",
  name: "Workload",
  kind: "workload",
  scope: "gvc",
  fields,
  fill: fillWorkload,
  check: checkWorkload,
  replaceOn: ["name", "gvc", "type"],
  patch: patchReplacing("spec"),
};

export const lookup: Lookup = {
  token: "cpln:index/getWorkload:getWorkload",
  name: "getWorkload",
  arguments: { gvc: text({ required: true }), name: text({ required: true }) },
  result: {
    ...pluralised(fields, "getWorkload"),
    id: text({ filled: true, wire: "name" }),
    gvc: text({ filled: true, notEchoed: true }),
    health,
  },
  path: ({ gvc, name }, org) => `/org/${org}/gvc/${gvc}/workload/${name}`,
};
