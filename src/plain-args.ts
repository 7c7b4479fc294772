import type * as pulumi from "@pulumi/pulumi";
import type { ScaleToZeroTcpArgs } from "./args";

/** The arguments once every value is known. */
export interface PlainArgs
  extends pulumi.UnwrappedObject<Omit<ScaleToZeroTcpArgs, "target" | "env" | "tags">> {
  target: string;
}

export const DEFAULT_GRACE_SECONDS = 90;
export const DEFAULT_HEALTH_PORT = 8081;

export const isInternal = (args: { expose?: unknown }): boolean => args.expose === "internal";

/** One mapping as it came: nothing about it is certain before it was checked. */
export type RawMapping = Partial<PlainArgs["ports"][number]>;

/** Undefined where `ports` is no list; what is no mapping in it counts as an empty one. */
export function mappingsOf(args: { ports?: unknown }): RawMapping[] | undefined {
  if (!Array.isArray(args.ports)) return undefined;
  return args.ports.map((each: unknown) =>
    typeof each === "object" && each !== null ? (each as RawMapping) : {},
  );
}
