import type { LookupFunction } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { probe } from "../../../proxy-image/src/net/probe.ts";
import { protocolOf } from "../../../proxy-image/src/probes/index.ts";
import { systemClock } from "../../../proxy-image/src/runtime/clock.ts";
import { eventually, settled } from "../../support/eventually.ts";
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

  it("asks in the protocol's way, and judges an answer however it comes", async () => {
    const ask = (behaviour: Behaviour) => {
      target.behaviour = behaviour;
      const redis = protocolOf({ readiness: { kind: "redis" }, target: 6379 }, "redis.internal");
      const place = { host: "127.0.0.1", port: target.port, windowMs: 50, clock: systemClock };
      return probe({ ...place, protocol: redis });
    };
    const slowly =
      (answer: string): Behaviour =>
      async (peer) => {
        if ((await peer.text(14)) !== "*1\r\n$4\r\nPING\r\n") peer.reset();
        for (const letter of answer) {
          peer.write(letter);
          await settled(2);
        }
      };
    expect(await ask(slowly("+PONG\r\n"))).toBe("answered");
    expect(await ask(slowly("-LOADING reading\r\n"))).toBe("unready");
    expect(await ask(slowly("+PON"))).toBe("silent");
    expect(await ask((peer) => peer.end("+PON"))).toBe("unready");
    expect(await ask((peer) => peer.end("+PONG\r\n"))).toBe("answered");
    expect(await ask(speaking("x".repeat(70_000)))).toBe("unready");
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
