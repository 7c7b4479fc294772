/**
 * A PostgreSQL server that only workloads of the same GVC use, and that is suspended while none does. There is no load
 * balancer, so all that is paid for while idle is the proxy.
 */
import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { ignoreSuspend, proxyWorkloadLink, ScaleToZeroTcp } from "cpln-scale-to-zero";

const config = new pulumi.Config();
const gvc = new cpln.Gvc("gvc", { name: config.require("gvc"), locations: [config.require("location")] });

const database = new cpln.Workload(
  "database",
  {
    name: "database",
    gvc: gvc.name,
    type: "standard",
    containers: [
      {
        name: "postgres",
        // Data lives in the container here and goes when it is suspended: mount a volume set for what shall stay.
        image: "postgres:17",
        memory: "512Mi",
        cpu: "250m",
        ports: [{ number: 5432, protocol: "tcp" }],
        env: { POSTGRES_PASSWORD: config.requireSecret("password") },
        readinessProbe: { tcpSocket: { port: 5432 }, initialDelaySeconds: 2, periodSeconds: 1 },
      },
    ],
    options: {
      suspend: true,
      autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 },
      capacityAi: false,
    },
    firewallSpec: {
      internal: {
        inboundAllowType: "workload-list",
        inboundAllowWorkloads: [proxyWorkloadLink({ gvc: gvc.name, name: "database" })],
      },
    },
  },
  { ignoreChanges: ignoreSuspend },
);

const scaleToZero = new ScaleToZeroTcp("database", {
  gvc: gvc.name,
  target: database,
  expose: "internal",
  ports: [{ port: 5432 }],
  // Pools of clients rest for minutes between two queries.
  idleHold: "15m",
});

/** What the applications connect to in place of the database. */
export const host = scaleToZero.host;
export const ports = scaleToZero.ports;
