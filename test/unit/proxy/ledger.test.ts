import { describe, expect, it } from "vitest";
import type { Connection } from "../../../proxy-image/src/runtime/connection.ts";
import { Ledger } from "../../../proxy-image/src/runtime/ledger.ts";

const connection = (id: number) => ({ id }) as Connection;

describe("the ledger", () => {
  it("knows where the core believes each client to be, and keeps their order", () => {
    const ledger = new Ledger();
    const [a, b, c] = [connection(1), connection(2), connection(3)];
    for (const one of [a, b, c]) ledger.arrive(one, 22);
    ledger.move(a, "connecting");
    ledger.move(a, "waiting");
    expect(ledger.waiting(22).map(({ id }) => id)).toEqual([1, 2, 3]);
    ledger.move(b, "connecting");
    ledger.move(c, "spliced");
    expect(ledger.waiting(22)).toEqual([a]);
    expect(ledger.connecting(22)).toEqual([b]);
    expect(ledger.held()).toEqual([a, b]);
    expect(ledger.waiting(23)).toEqual([]);
  });

  it("forgets a client once", () => {
    const ledger = new Ledger();
    const a = connection(1);
    ledger.arrive(a, 22);
    ledger.move(a, "spliced");
    expect(ledger.leave(a)).toBe("spliced");
    expect(ledger.leave(a)).toBeUndefined();
    ledger.move(a, "waiting");
    expect(ledger.waiting(22)).toEqual([]);
  });
});
