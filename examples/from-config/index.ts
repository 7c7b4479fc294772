/**
 * No code of one's own: a workload that exists already gets a proxy by configuration alone. In the root of the
 * checkout, after `npm run build`:
 *
 *     pulumi stack init prod
 *     pulumi config set gvc prod
 *     pulumi config set target sftp
 *     pulumi config set --path 'ports[0].port' 22
 *     pulumi config set --path 'ports[0].target' 2222
 *     pulumi config set --path 'settings.allow[0]' 0.0.0.0/0
 *     pulumi config set --path settings.idleHold 10m
 *     pulumi up
 *
 * The preview names the line that the target's firewall needs, where it is missing.
 */
import * as pulumi from "@pulumi/pulumi";
import { type PortArgs, ScaleToZeroTcp, type ScaleToZeroTcpArgs } from "cpln-scale-to-zero";

const config = new pulumi.Config();
const target = config.require("target");
// The component's name is the proxy's stem: it follows from the target's own.
const name = target.slice(target.lastIndexOf("/") + 1);

const scaleToZero = new ScaleToZeroTcp(name, {
  gvc: config.require("gvc"),
  target,
  ports: config.requireObject<PortArgs[]>("ports"),
  expose: config.require<"public" | "internal">("expose"),
  ...config.getObject<Partial<ScaleToZeroTcpArgs>>("settings"),
});

// The platform says it some time after the first update; a later one shows it.
export const host = scaleToZero.host.apply((known) => known ?? "not known yet");
export const ports = scaleToZero.ports;
export const proxy = scaleToZero.workloadLink;
