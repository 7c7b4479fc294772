import type { Condition } from "../core/describe";
import type { ProxyReport } from "../runtime/proxy";

export interface Identity {
  version: string;
  plane: string;
}

/** What `/healthz` answers. `activeConnections` and `wakeInProgress` are what the founding proxy answered. */
export function healthBody(
  { lifecycle, census, targets }: ProxyReport,
  identity: Identity,
  wall: number,
): object {
  return {
    activeConnections: census.held + census.spliced,
    wakeInProgress: targets.some(({ report }) => report.wakeInProgress),
    held: census.held,
    spliced: census.spliced,
    lifecycle,
    ...identity,
    targets: targets.map(({ settings, report }) => ({
      workload: settings.workload,
      gvc: settings.gvc,
      ports: settings.ports.map(({ listen, target }) => ({ listen, target })),
      ...report,
      conditions: report.conditions.map((condition) => dated(condition, wall)),
    })),
  };
}

/** Ages become times of day, which people can compare with their logs. */
function dated({ type, reason, forMs, nextTryInMs }: Condition, wall: number): object {
  return {
    type,
    reason,
    ...(forMs === undefined ? {} : { since: new Date(wall - forMs).toISOString() }),
    ...(nextTryInMs === undefined ? {} : { nextTryAt: new Date(wall + nextTryInMs).toISOString() }),
  };
}
