import type { LookupFunction } from "node:net";
import { expect, test } from "vitest";
import type { ProbeOptions } from "../../../proxy-image/src/net/probe.ts";
import { Prober } from "../../../proxy-image/src/runtime/prober.ts";
import type { PortMapping } from "../../../src/contract/settings.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { MemoryApi } from "../../support/proxy.ts";

const mapping: PortMapping = {
  listen: 22,
  target: 2022,
  readiness: { kind: "banner" },
  wakeOn: "connect",
};

/** A prober whose looks only ask for the target's address, and how often the resolver was asked. */
function resolving(outcomes: (string | Error)[]) {
  const clock = new ManualClock();
  let asked = 0;
  const resolve: LookupFunction = (_name, _options, done) => {
    const outcome = outcomes[Math.min(asked++, outcomes.length - 1)] as string | Error;
    if (outcome instanceof Error) done(outcome, "", 0);
    else done(null, outcome, 4);
  };
  const probe = ({ host, lookup }: ProbeOptions) =>
    new Promise<"refused" | "unreachable">((settle) => {
      found.push("nothing");
      lookup?.(host, {}, (error, address) => {
        found[found.length - 1] = `${address}`;
        settle(error ? "unreachable" : "refused");
      });
    });
  const found: string[] = [];
  const prober = new Prober({
    settings: { host: "sftp.demo.cpln.local", probeWindowMs: 2_000 },
    protocols: new Map(),
    api: new MemoryApi(),
    clock,
    probe,
    resolve,
  });
  const look = () => prober.probe(mapping, [], undefined).outcome;
  return { clock, look, found, asked: () => asked };
}

test("looks that follow each other soon ask for the target's address once a second", async () => {
  const { clock, look, found, asked } = resolving(["10.0.0.1", "10.0.0.2"]);
  for (let looks = 0; looks < 20; looks += 1) {
    await look();
    clock.advance(50);
  }
  expect(asked()).toBe(1);
  await look();
  expect(asked()).toBe(2);
  expect(found.slice(-2)).toEqual(["10.0.0.1", "10.0.0.2"]);
});

test("a name that did not resolve is asked for again at once", async () => {
  const { look, asked } = resolving([new Error("ENOTFOUND"), "10.0.0.1"]);
  expect(await look()).toBe("unreachable");
  expect(await look()).toBe("refused");
  expect(asked()).toBe(2);
});
