import { expect, test } from "vitest";
import { plainAddress } from "../../../simulator/src/network/addresses.ts";
import { admitsExternally, inRanges, readFirewall } from "../../../simulator/src/network/firewall.ts";

test.each([
  [["10.0.0.0/8"], "10.1.2.3", true],
  [["10.0.0.0/8"], "11.1.2.3", false],
  [["10.1.2.3"], "10.1.2.3", true],
  [["0.0.0.0/0"], "203.0.113.9", true],
  [["::/0"], "2001:db8::1", true],
  [["0.0.0.0/0"], "2001:db8::1", false],
  [["nonsense", "10.0.0.0/99"], "10.0.0.1", false],
  [[], "10.0.0.1", false],
  [["10.0.0.0/8"], "not an address", false],
])("%j holds %s: %s", (ranges, address, expected) => {
  expect(inRanges(ranges, address)).toBe(expected);
});

test("an IPv4 peer on a dual-stack listener is an IPv4 peer", () => {
  const firewall = readFirewall({ firewallConfig: { external: { inboundAllowCIDR: ["127.0.0.0/8"] } } });
  expect(admitsExternally(firewall, "::ffff:127.0.0.1")).toBe(true);
  expect(plainAddress("::FFFF:127.0.0.1")).toBe("127.0.0.1");
  expect(plainAddress("::1")).toBe("::1");
});

test("what a document does not say is closed", () => {
  expect(readFirewall({})).toEqual({
    internal: { allow: "none", workloads: [] },
    external: { allow: [], block: [] },
  });
});
