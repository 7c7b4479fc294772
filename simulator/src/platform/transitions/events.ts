import type { Failure } from "../failures.ts";
import type { LocationSpec } from "../spec.ts";

/** What happens to one workload in one location. Replicas go by their id; an event for one that is gone is ignored. */
export type PlatformEvent =
  /** The document was written. `movesVersion` is false where a flip of `suspend` alone moves no version. */
  | { type: "wanted"; spec: LocationSpec; suspendMovesVersion: boolean }
  | { type: "deleted" }
  | { type: "booted"; replica: string; closedPorts: number[] }
  | { type: "boot-failed"; replica: string; failure: Failure }
  /** Whatever kept replicas from starting has gone: try them again at once. */
  | { type: "unblocked" }
  | { type: "container-started"; replica: string; container: string; hasReadiness: boolean }
  | { type: "container-ready"; replica: string; container: string; ready: boolean }
  | { type: "container-exited"; replica: string; container: string; exitCode: number; reason: string }
  | { type: "backoff-over"; replica: string; container: string }
  | { type: "port-opened"; replica: string; port: number }
  | { type: "pre-stop-done"; replica: string; container: string; ok: boolean }
  | { type: "grace-over"; replica: string }
  /** All processes of a replica have ended and its sockets are closed. */
  | { type: "released"; replica: string }
  /** The `stopReplica` command: ended in the ordinary way, and replaced. */
  | { type: "stop-replica"; replica: string }
  /** A node is lost, memory runs out: everything of it ends at once, and it is replaced. */
  | { type: "kill-replica"; replica: string }
  /** Time passed that something waited for (`minReadySeconds`). */
  | { type: "look-again" };

/** What the driver has to do about it. Every one is answered by an event, sooner or later. */
export type Command =
  /** Wait for the boot, or find out why it cannot be: `booted` or `boot-failed`. */
  | { type: "boot"; replica: string }
  /** Start one container: `container-started` or `container-exited`, then readiness. */
  | { type: "start"; replica: string; container: string }
  /** Run the preStop of one container: `pre-stop-done`. */
  | { type: "pre-stop"; replica: string; container: string }
  | { type: "signal"; replica: string; container: string }
  /** End everything of a replica at once: `released`. */
  | { type: "kill"; replica: string }
  | { type: "after"; delayMs: number; event: PlatformEvent };
