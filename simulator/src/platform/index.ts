export type { BootDelays, BootHold, BootPoint } from "./boot.ts";
export type { Failure, FailureKind } from "./failures.ts";
export { UnknownReplica } from "./fleet.ts";
export { createPlatform, LocalPlatform } from "./platform.ts";
export {
  type LogLine,
  type MuteBehaviour,
  type PlatformOptions,
  type PlatformSwitches,
  strictSwitches,
} from "./settings.ts";
export type { ReplicaSnapshot, WorkloadSnapshot } from "./snapshot.ts";
