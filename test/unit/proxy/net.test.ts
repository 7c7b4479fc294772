import { describe, expect, it } from "vitest";
import { normaliseAddress, shortenAddress } from "../../../proxy-image/src/net/address.ts";
import { failureOf } from "../../../proxy-image/src/net/approach.ts";
import { DialQueue, type Ticket } from "../../../proxy-image/src/net/dial-queue.ts";
import { free } from "../../../proxy-image/src/net/js-plane.ts";

describe("addresses", () => {
  it.each([
    ["::ffff:10.0.24.130", "10.0.24.130"],
    ["::FFFF:7f00:1", "127.0.0.1"],
    ["0:0:0:0:0:ffff:a00:1", "10.0.0.1"],
    ["::1", "::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["192.0.2.1", "192.0.2.1"],
    [undefined, ""],
  ])("%s is %s", (address, normal) => {
    expect(normaliseAddress(address)).toBe(normal);
  });

  it.each([
    ["192.0.2.77", "192.0.2.0/24"],
    ["::ffff:192.0.2.77", "192.0.2.0/24"],
    ["2001:db8:1:2::3", "2001:db8:1::/48"],
    ["2001:0db8::7", "2001:db8:0::/48"],
    ["::1", "0:0:0::/48"],
    ["", "unknown"],
  ])("%s is logged as %s", (address, short) => {
    expect(shortenAddress(address)).toBe(short);
  });
});

describe("a dial queue", () => {
  it("lets so many go at once, first come first served, and none that left", () => {
    const queue = new DialQueue(2);
    const gone: number[] = [];
    const tickets: Ticket[] = [];
    for (let n = 0; n < 6; n++) tickets.push(queue.enter(() => gone.push(n)));
    expect(gone).toEqual([0, 1]);
    tickets[2]?.leave();
    tickets[0]?.leave();
    expect(gone).toEqual([0, 1, 3]);
    tickets[0]?.leave();
    tickets[2]?.leave();
    expect(gone).toEqual([0, 1, 3]);
    tickets[1]?.leave();
    tickets[3]?.leave();
    expect(gone).toEqual([0, 1, 3, 4, 5]);
  });
});

describe("a dial queue beside connections that are made elsewhere", () => {
  it("counts those too, and lets the next go when it is told that they are fewer", () => {
    let elsewhere = 1;
    const queue = new DialQueue(2, () => elsewhere);
    const gone: number[] = [];
    for (let n = 0; n < 3; n++) queue.enter(() => gone.push(n));
    expect(gone).toEqual([0]);
    expect(queue.free).toBe(0);
    elsewhere = 0;
    queue.advance();
    expect(gone).toEqual([0, 1]);
  });

  it("counts what it takes over from there until that is given up, once", () => {
    const queue = new DialQueue(2);
    const ticket = queue.occupy();
    const gone: number[] = [];
    for (let n = 0; n < 3; n++) queue.enter(() => gone.push(n));
    expect(gone).toEqual([0]);
    ticket.leave();
    ticket.leave();
    expect(gone).toEqual([0, 1]);
  });
});

describe("the memory of a chunk that was passed on", () => {
  const whole = (bytes: number) => Buffer.from(new ArrayBuffer(bytes));

  it("is given back at once where it is large", () => {
    const chunk = whole(65_536);
    free(chunk);
    expect(chunk.buffer.byteLength).toBe(0);
  });

  it("is left alone where it is small, or part of what others may use", () => {
    const small = whole(1_000);
    const shared = whole(65_536);
    free(small);
    free(shared.subarray(0, 32_768));
    expect([small.buffer.byteLength, shared.buffer.byteLength]).toEqual([1_000, 65_536]);
  });
});

describe("why a connection to the target failed", () => {
  const error = (code: string) => Object.assign(new Error(code), { code });

  it.each([
    ["ECONNREFUSED", "refused"],
    ["ECONNRESET", "reset"],
    ["ETIMEDOUT", "timeout"],
    ["ENOTFOUND", "unreachable"],
    ["EMFILE", "unreachable"],
  ])("%s: %s", (code, failure) => {
    expect(failureOf(error(code))).toBe(failure);
  });

  it("of several addresses one that was refused says the most", () => {
    expect(failureOf(new AggregateError([error("ENETUNREACH"), error("ECONNREFUSED")]))).toBe("refused");
    expect(failureOf(new AggregateError([error("ENETUNREACH")]))).toBe("unreachable");
  });
});
