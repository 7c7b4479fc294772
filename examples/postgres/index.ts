/**
 * A PostgreSQL server that runs only while somebody is connected: the first `psql` waits for it to start. Clients of
 * PostgreSQL speak first, so the proxy asks the server itself whether it takes connections yet, and a scan of the
 * public port, which says nothing that fits, wakes nobody.
 */
import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { ignoreSuspend, proxyWorkloadLink, ReadinessKind, ScaleToZeroTcp } from "cpln-scale-to-zero";

const config = new pulumi.Config();
const gvc = new cpln.Gvc("gvc", { name: config.require("gvc"), locations: [config.require("location")] });

const password = new cpln.Secret("password", {
  name: "postgres-password",
  opaque: { payload: config.requireSecret("password"), encoding: "plain" },
});
const identity = new cpln.Identity("database", { name: "database", gvc: gvc.name });
const reads = new cpln.Policy("database-reads-password", {
  name: "database-reads-password",
  targetKind: "secret",
  targetLinks: [password.selfLink],
  bindings: [{ principalLinks: [identity.selfLink], permissions: ["reveal"] }],
});

const database = new cpln.Workload(
  "database",
  {
    name: "database",
    gvc: gvc.name,
    type: "standard",
    identityLink: identity.selfLink,
    containers: [
      {
        name: "postgres",
        // Tables live in the container here and go when it is suspended: mount a volume set for those that shall stay.
        image: "postgres:17",
        memory: "512Mi",
        cpu: "250m",
        ports: [{ number: 5432, protocol: "tcp" }],
        env: { POSTGRES_PASSWORD: pulumi.interpolate`cpln://secret/${password.name}.payload` },
        // Every second of initial delay is a second that each first client waits.
        readinessProbe: { tcpSocket: { port: 5432 }, initialDelaySeconds: 1, periodSeconds: 1 },
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
  { ignoreChanges: ignoreSuspend, dependsOn: [reads] },
);

const scaleToZero = new ScaleToZeroTcp("database", {
  gvc: gvc.name,
  target: database,
  // Port 5432 would suggest as much; said here for its options, such as the user that the server's log shall name.
  ports: [{ port: 5432, readiness: { kind: ReadinessKind.Postgres, user: "postgres" } }],
  allow: config.requireObject<string[]>("allow"),
  idleHold: config.require("idleHold"),
});

// `psql "host=... connect_timeout=120 user=postgres"`: libpq waits for as long as it is told, a pool often does not.
export const host = scaleToZero.host.apply((known) => known ?? "not known yet");
export const ports = scaleToZero.ports;
