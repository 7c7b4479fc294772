import type { DeploymentSnapshot, FailureReason } from "../core/types";
import { asArray, asBoolean, asNumber, asObject, asText, type Json } from "./coerce";

/** One deployment, or a list of them where the proxy does not know its own location. */
export function parseDeployment(body: unknown): DeploymentSnapshot | undefined {
  const top = asObject(body);
  if (!Array.isArray(top.items)) return parseOne(top);
  const all = top.items.map((item) => parseOne(asObject(item)));
  const known = all.filter((one) => one !== undefined);
  const [first] = known;
  if (first === undefined || known.length < all.length) return undefined;
  // Which of them serves this proxy is not known: only what they agree on is said.
  return {
    lastProcessedVersion: Math.min(...known.map((one) => one.lastProcessedVersion)),
    ready: known.every((one) => one.ready),
    failure: known.every((one) => one.failure) ? first.failure : undefined,
  };
}

function parseOne(deployment: Json): DeploymentSnapshot | undefined {
  const status = asObject(deployment.status);
  const lastProcessedVersion = asNumber(status.lastProcessedVersion);
  if (lastProcessedVersion === undefined) return undefined;

  const expected = asNumber(status.expectedDeploymentVersion) ?? lastProcessedVersion;
  const version = asArray(status.versions)
    .map(asObject)
    .find((candidate) => asNumber(candidate.workload) === expected);
  const containers = Object.values(asObject(version?.containers)).map(asObject);
  const ready = asBoolean(version?.ready) === true && containers.some(hasReadyReplica);
  return {
    lastProcessedVersion,
    // Where a flip of `suspend` moves no version, the replicas that a suspend is ending are counted under the same
    // one as those that follow, and ready replicas prove nothing.
    ready: ready && expected >= lastProcessedVersion,
    failure: ready ? undefined : findFailure(status, version, containers),
  };
}

function hasReadyReplica(container: Json): boolean {
  return (asNumber(asObject(container.resources).replicasReady) ?? 0) >= 1;
}

/** In the words of the orchestrator underneath; the first that matches names the failure. */
const FAILURES: readonly [FailureReason, RegExp][] = [
  [
    "image_pull",
    /ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|failed to pull( and unpack)? image/i,
  ],
  ["crash_loop", /CrashLoopBackOff|back-off \S+ restarting failed container/i],
  ["quota", /\bquota\b/i],
  [
    "unschedulable",
    /unschedulable|FailedScheduling|insufficient (cpu|memory|resources|capacity)|nodes are available/i,
  ],
];

function findFailure(
  status: Json,
  version: Json | undefined,
  containers: Json[],
): DeploymentSnapshot["failure"] {
  const sayings = [
    ...containers.flatMap((container) => [asObject(container.restarts).reason, container.message]),
    version?.message,
    status.message,
  ].flatMap((saying) => asText(saying) ?? []);
  for (const [reason, words] of FAILURES) {
    const message = sayings.find((saying) => words.test(saying));
    if (message !== undefined) return { reason, message: message.slice(0, MAX_MESSAGE) };
  }
  return undefined;
}

const MAX_MESSAGE = 300;
