/**
 * Added to the proxy's own grace before its first suspend: the replica before it may drain for that long. The proxy
 * waits by it, and the component tells at preview.
 */
export const OWN_GRACE_MARGIN_MS = 15_000;

/** What the platform's own shutdown takes of the grace: the load balancer's withdrawal and a margin. */
const SHUTDOWN_MARGIN_MS = 15_000;

/** How long sessions may drain within a termination grace: all but the platform's share, half of a short one. */
export function drainWithin(graceMs: number): number {
  return Math.max(graceMs - SHUTDOWN_MARGIN_MS, Math.ceil(graceMs / 2));
}
