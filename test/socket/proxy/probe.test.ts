import type { LookupFunction } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { probe } from "../../../proxy-image/src/net/probe.ts";
import { systemClock } from "../../../proxy-image/src/runtime/clock.ts";
import { eventually } from "../../support/eventually.ts";
import {
  type Behaviour,
  closing,
  deadPort,
  resetting,
  silent,
  speaking,
  TestTarget,
} from "../../support/target.ts";

let target: TestTarget;

beforeEach(async () => {
  target = await TestTarget.start();
});

afterEach(async () => {
  await target.stop();
});

const look = (port: number, lookup?: LookupFunction) =>
  probe({ host: lookup ? "target.test" : "127.0.0.1", port, windowMs: 50, clock: systemClock, lookup });

/** A name with these addresses. */
const named =
  (...addresses: { address: string; family: number }[]): LookupFunction =>
  (_name, _options, callback) =>
    callback(null, addresses);

describe("a probe", () => {
  it.each<[string, Behaviour]>([
    ["answered", speaking("SSH-2.0\r\n")],
    ["answered", (peer) => peer.end("SSH-2.0\r\n")],
    ["silent", silent],
    ["closed", closing],
    ["reset", resetting],
  ])("finds a target %s", async (outcome, behaviour) => {
    target.behaviour = behaviour;
    expect(await look(target.port)).toBe(outcome);
    const peer = await target.peer(0);
    await eventually(() => peer.socket.readableEnded || peer.socket.destroyed);
    expect(peer.bytesReceived).toBe(0);
  });

  it("finds nobody on a dead port, and no such name", async () => {
    expect(await look(await deadPort())).toBe("refused");
    const nowhere: LookupFunction = (_name, _options, callback) =>
      callback(Object.assign(new Error("not found"), { code: "ENOTFOUND" }), []);
    expect(await look(target.port, nowhere)).toBe("unreachable");
  });

  it("tries every address of a name, and resolves it afresh each time", async () => {
    target.behaviour = speaking("B");
    expect(
      await look(target.port, named({ address: "::1", family: 6 }, { address: "127.0.0.1", family: 4 })),
    ).toBe("answered");
    let lookups = 0;
    const counting: LookupFunction = (_name, _options, callback) => {
      lookups += 1;
      callback(null, [{ address: "127.0.0.1", family: 4 }]);
    };
    await look(target.port, counting);
    await look(target.port, counting);
    expect(lookups).toBe(2);
  });
});
