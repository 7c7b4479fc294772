import type { CallFailure, DeploymentSnapshot, WorkloadSnapshot } from "../core/types";

export type Answer<T> = { ok: true; value: T } | { ok: false; failure: CallFailure };

/** What the proxy asks the platform about one target. No method ever rejects. */
export interface TargetApi {
  readWorkload(): Promise<Answer<WorkloadSnapshot>>;
  /** The deployment in the proxy's own location. */
  readDeployment(): Promise<Answer<DeploymentSnapshot>>;
  /** Answers the version that the write made, where the platform says it. */
  writeSuspend(suspend: boolean, version: number | undefined): Promise<Answer<number | undefined>>;
}

export const failed = (kind: CallFailure["kind"], message: string): { ok: false; failure: CallFailure } => ({
  ok: false,
  failure: { kind, message },
});
