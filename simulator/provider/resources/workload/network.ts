/** A workload's firewall and load balancer. */
import { ipSetLink, link } from "../../mapping/codecs.ts";
import { block, blocks, flag, integer, text, texts } from "../../mapping/fields.ts";

const set = (wire: string) => texts({ wire, unordered: true, default: [] });

const external = block("WorkloadFirewallSpecExternal", {
  inboundAllowCidrs: set("inboundAllowCIDR"),
  inboundBlockedCidrs: set("inboundBlockedCIDR"),
  outboundAllowCidrs: set("outboundAllowCIDR"),
  outboundBlockedCidrs: set("outboundBlockedCIDR"),
  outboundAllowHostnames: set("outboundAllowHostname"),
  outboundAllowPorts: blocks(
    "WorkloadFirewallSpecExternalOutboundAllowPort",
    { protocol: text({ required: true }), number: integer({ required: true }) },
    { wire: "outboundAllowPort", unordered: true },
  ),
  http: block("WorkloadFirewallSpecExternalHttp", {
    inboundHeaderFilters: blocks(
      "WorkloadFirewallSpecExternalHttpInboundHeaderFilter",
      {
        key: text({ required: true }),
        allowedValues: texts({ unordered: true }),
        blockedValues: texts({ unordered: true }),
      },
      { wire: "inboundHeaderFilter", unordered: true },
    ),
  }),
});

export const firewallSpec = block(
  "WorkloadFirewallSpec",
  {
    external,
    internal: block("WorkloadFirewallSpecInternal", {
      inboundAllowType: text({ default: "none" }),
      inboundAllowWorkloads: texts({
        wire: "inboundAllowWorkload",
        unordered: true,
        default: [],
        each: link,
      }),
    }),
  },
  { wire: "spec.firewallConfig" },
);

export const loadBalancer = block(
  "WorkloadLoadBalancer",
  {
    direct: block("WorkloadLoadBalancerDirect", {
      enabled: flag({ required: true }),
      ipset: text({ wire: "ipSet", codec: ipSetLink }),
      ports: blocks(
        "WorkloadLoadBalancerDirectPort",
        {
          externalPort: integer({ required: true }),
          protocol: text({ required: true }),
          scheme: text(),
          containerPort: integer(),
        },
        { unordered: true },
      ),
    }),
    geoLocation: block("WorkloadLoadBalancerGeoLocation", {
      enabled: flag({ default: false }),
      headers: block("WorkloadLoadBalancerGeoLocationHeaders", {
        asn: text(),
        city: text(),
        country: text(),
        region: text(),
      }),
    }),
    replicaDirect: flag({ default: false }),
  },
  { wire: "spec.loadBalancer" },
);
