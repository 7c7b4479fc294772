/** Ways in which a workload fails to come up or stay up. A test injects them; some also happen by themselves. */
export type FailureKind =
  | "image-pull"
  | "crash-loop"
  | "quota"
  | "unschedulable"
  | "never-ready"
  | "secret-missing"
  | "start-failed";

export interface Failure {
  kind: FailureKind;
  /** Overrides the platform's words. */
  message?: string;
  /** For a crash loop. */
  exitCode?: number;
}

/** Kinds that keep a replica from starting at all; a replica that already runs is not touched by them. */
export function blocksStart(failure: Failure): boolean {
  return failure.kind !== "crash-loop" && failure.kind !== "never-ready";
}

/** What a deployment's message says, in the words that people know from the platform. */
export function failureMessage(failure: Failure, container: { name: string; image: string }): string {
  if (failure.message !== undefined) return failure.message;
  switch (failure.kind) {
    case "image-pull":
      return `${container.name}: ImagePullBackOff: Back-off pulling image "${container.image}": ErrImagePull: not found`;
    case "crash-loop":
      return `${container.name}: CrashLoopBackOff: back-off restarting failed container`;
    case "quota":
      return "the workload exceeds the org's quota: replicas cannot be created";
    case "unschedulable":
      return "Unschedulable: 0 nodes are available: insufficient cpu, insufficient memory";
    case "never-ready":
      return `${container.name}: Readiness probe failed`;
    case "secret-missing":
      return `${container.name}: CreateContainerConfigError: secret not found or not permitted`;
    case "start-failed":
      return `${container.name}: StartError: the container could not be started`;
  }
}

/** The short reason that sits beside `restarts`. */
export function failureReason(failure: Failure): string {
  switch (failure.kind) {
    case "image-pull":
      return "ImagePullBackOff";
    case "crash-loop":
      return "CrashLoopBackOff";
    case "quota":
      return "QuotaExceeded";
    case "unschedulable":
      return "Unschedulable";
    case "never-ready":
      return "Unready";
    case "secret-missing":
      return "CreateContainerConfigError";
    case "start-failed":
      return "StartError";
  }
}
