import { answers, isReady, type LocationState, type Replica } from "./state.ts";

/** Replicas that the mesh gives a new connection to `port` to: the ready ones, else those that still drain. */
export function meshReplicas(
  state: LocationState,
  port: number,
  draining: "until-grace-end" | "withdrawn",
): Replica[] {
  const open = state.replicas.filter((replica) => !replica.closedPorts.includes(port));
  const ready = open.filter(isReady);
  if (ready.length > 0 || draining === "withdrawn") return ready;
  return open.filter(answers);
}

/** The same for a load balancer, which hears of a withdrawal late. */
export function balancedReplicas(
  state: LocationState,
  port: number,
  now: number,
  withdrawalMs: number,
): Replica[] {
  return state.replicas.filter((replica) => {
    if (!answers(replica) || replica.closedPorts.includes(port)) return false;
    return replica.terminatingSince === undefined || now - replica.terminatingSince < withdrawalMs;
  });
}
