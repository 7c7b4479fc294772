/** What a preview finds in the platform's own documents: how grave it is and what can be done. For the docs too. */
export interface Check {
  level: "error" | "warning";
  /** What is looked at. */
  subject: string;
  remedy: string;
}

export const CHECKS = {
  type: {
    level: "error",
    subject: "the target's type is `standard` or `stateful`",
    remedy: "make the target standard or stateful: the platform connects nobody to another kind by TCP",
  },
  scaler: {
    level: "error",
    subject: "nobody else owns the target's scale (KEDA)",
    remedy: 'set another metric in its options.autoscaling, such as "disabled"',
  },
  replicas: {
    level: "error",
    subject: "the target has replicas when it is awake",
    remedy: "set minScale and maxScale to 1 or more",
  },
  undeclared: {
    level: "error",
    subject: "each port is declared by a container of the target",
    remedy: 'add { number: <port>, protocol: "tcp" } to the ports of its container',
  },
  protocol: {
    level: "warning",
    subject: "each port is declared as `tcp`",
    remedy: 'declare it with protocol: "tcp": anything else has the mesh read the bytes as HTTP',
  },
  firewall: {
    level: "warning",
    subject: "the target's internal firewall lets the proxy in",
    remedy:
      'set its firewallSpec.internal to inboundAllowType: "workload-list" with the proxy in inboundAllowWorkloads',
  },
  localOptions: {
    level: "warning",
    subject: "no options for one location defeat a suspend",
    remedy: "leave its localOptions out, or expect it to run there all the time",
  },
  probes: {
    level: "warning",
    subject: "`maxHold` is longer than the target's own readiness probe takes",
    remedy: "lower initialDelaySeconds of that probe, or raise maxHold",
  },
  locations: {
    level: "error",
    subject: "the proxy runs in one location",
    remedy: "name one of the GVC's locations in location",
  },
} as const satisfies Record<string, Check>;

export type CheckName = keyof typeof CHECKS;
