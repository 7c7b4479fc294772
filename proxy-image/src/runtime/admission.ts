/** How many clients there are, of one target or of all. */
export interface Census {
  held: number;
  spliced: number;
}

export interface Caps {
  maxHeld: number;
  maxConnections: number;
}

export type Refusal = "target_held" | "target_connections" | "all_held" | "all_connections";

/** Why one more client is not taken, or undefined when it is. */
export function refusal(
  target: { census: Census; caps: Caps },
  all: { census: Census; caps: Caps },
): Refusal | undefined {
  if (target.census.held >= target.caps.maxHeld) return "target_held";
  if (target.census.held + target.census.spliced >= target.caps.maxConnections) return "target_connections";
  if (all.census.held >= all.caps.maxHeld) return "all_held";
  if (all.census.held + all.census.spliced >= all.caps.maxConnections) return "all_connections";
  return undefined;
}

/** Descriptors that are nobody's session: standard streams, listeners, API calls, probes, health. */
const SPARE_DESCRIPTORS = 256;

/** Every spliced client costs two descriptors. */
export function capByDescriptors(maxConnectionsTotal: number, limit: number | undefined): number {
  if (limit === undefined) return maxConnectionsTotal;
  const spare = Math.min(SPARE_DESCRIPTORS, Math.floor(limit / 2));
  return Math.max(1, Math.min(maxConnectionsTotal, Math.floor((limit - spare) / 2)));
}
