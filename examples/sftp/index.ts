/**
 * An SFTP server that is suspended while nobody is connected, as a whole program: a GVC, the server, the one line in
 * its firewall, and the component. `pulumi up` in this folder runs it, after `npm run build` in the checkout.
 */
import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { ignoreSuspend, proxyWorkloadLink, ScaleToZeroTcp } from "cpln-scale-to-zero";

const config = new pulumi.Config();
const proxyImage = config.get("proxyImage");

const gvc = new cpln.Gvc("gvc", {
  name: config.require("gvc"),
  locations: [config.require("location")],
});

const sftp = new cpln.Workload(
  "sftp",
  {
    name: "sftp",
    gvc: gvc.name,
    type: "standard",
    containers: [
      {
        name: "sftp",
        // Files live in the container here and go when it is suspended: mount a volume set for those that shall stay.
        image: "linuxserver/openssh-server:latest",
        memory: "256Mi",
        ports: [{ number: 2222, protocol: "tcp" }],
        env: { USER_NAME: config.require("user"), PUBLIC_KEY: config.get("publicKey") ?? "" },
        // Every second of initial delay is a second that each first client waits.
        readinessProbe: { tcpSocket: { port: 2222 }, initialDelaySeconds: 1, periodSeconds: 1 },
      },
    ],
    // Made suspended: it costs nothing until the first client comes.
    options: {
      suspend: true,
      autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 },
      capacityAi: false,
    },
    firewallSpec: {
      // Closed to the world; the proxy alone gets in.
      internal: {
        inboundAllowType: "workload-list",
        inboundAllowWorkloads: [proxyWorkloadLink({ gvc: gvc.name, name: "sftp" })],
      },
    },
  },
  // From now on `suspend` belongs to the proxy.
  { ignoreChanges: ignoreSuspend },
);

const scaleToZero = new ScaleToZeroTcp("sftp", {
  gvc: gvc.name,
  target: sftp,
  ports: [{ port: 22, target: 2222 }],
  allow: config.requireObject<string[]>("allow"),
  idleHold: config.require("idleHold"),
  terminationGracePeriodSeconds: config.requireNumber("terminationGracePeriodSeconds"),
  ...(proxyImage ? { image: proxyImage } : {}),
});

// The platform says it some time after the first update; the next one shows it.
export const host = scaleToZero.host.apply((known) => known ?? "not known yet");
export const ports = scaleToZero.ports;
export const proxy = scaleToZero.workloadLink;
