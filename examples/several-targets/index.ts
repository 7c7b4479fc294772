/**
 * An SFTP server and a message broker behind one load balancer, told apart by port. Each is suspended and woken on its
 * own; the load balancer, which is what costs most while idle, is paid for once.
 */
import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { ignoreSuspend, proxyWorkloadLink, ScaleToZeroTcp } from "cpln-scale-to-zero";

const config = new pulumi.Config();
const gvc = new cpln.Gvc("gvc", { name: config.require("gvc"), locations: [config.require("location")] });

/** A small service that only the proxy reaches. */
function service(name: string, image: string, port: number): cpln.Workload {
  return new cpln.Workload(
    name,
    {
      name,
      gvc: gvc.name,
      type: "standard",
      containers: [
        {
          name: "main",
          image,
          ports: [{ number: port, protocol: "tcp" }],
          readinessProbe: { tcpSocket: { port }, initialDelaySeconds: 1, periodSeconds: 1 },
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
          inboundAllowWorkloads: [proxyWorkloadLink({ gvc: gvc.name, name: "shared" })],
        },
      },
    },
    { ignoreChanges: ignoreSuspend },
  );
}

const shared = new ScaleToZeroTcp("shared", {
  gvc: gvc.name,
  targets: [
    {
      target: service("sftp", "linuxserver/openssh-server:latest", 2222),
      ports: [{ port: 22, target: 2222 }],
    },
    {
      target: service("broker", "eclipse-mosquitto:2", 1883),
      ports: [{ port: 1883 }],
      // Its clients come back all the time: worth a longer hold.
      idleHold: "15m",
    },
  ],
  allow: config.requireObject<string[]>("allow"),
});

export const host = shared.host.apply((known) => known ?? "not known yet");
export const ports = shared.ports;
