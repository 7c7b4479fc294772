import type * as pulumi from "@pulumi/pulumi";
import type { ScaleToZeroTcpArgs } from "./args";
import type { TargetArgs } from "./target-args";

/** One of several targets once every value is known. */
export interface PlainTarget extends pulumi.UnwrappedObject<Omit<TargetArgs, "target">> {
  target: string;
}

/**
 * The arguments once every value is known. `target` and `ports` are there unless `targets` is, which the checks see
 * to; `target-list.ts` reads both ways of writing alike.
 */
export interface PlainArgs
  extends pulumi.UnwrappedObject<
    Omit<ScaleToZeroTcpArgs, "target" | "ports" | "targets" | "env" | "tags" | "preflight" | "wakeOnDestroy">
  > {
  target: string;
  ports: PlainTarget["ports"];
  targets?: PlainTarget[];
}

export const DEFAULT_GRACE_SECONDS = 90;
export const DEFAULT_HEALTH_PORT = 8081;

export const isInternal = (args: { expose?: unknown }): boolean => args.expose === "internal";
