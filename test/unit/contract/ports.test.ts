import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assignListen,
  containerPortProblem,
  duplicates,
  publicPortProblem,
  RESERVED_PORTS,
} from "../../../src/contract/ports.ts";

describe("a listen port", () => {
  const HEALTH = 8081;
  it.each<[string, { port: number; listen?: number }[], number[]]>([
    ["is the port itself from 1024 on", [{ port: 1024 }, { port: 2022 }], [1024, 2022]],
    ["is 10000 above it below 1024", [{ port: 22 }, { port: 1023 }], [10_022, 11_023]],
    ["is 10000 above a reserved one", [{ port: 9090 }, { port: 15_000 }], [19_090, 25_000]],
    ["is 10000 above the health port", [{ port: HEALTH }], [18_081]],
    ["is as said", [{ port: 22, listen: 2222 }], [2222]],
    ["gives way to one that was said later", [{ port: 2222 }, { port: 22, listen: 2222 }], [12_222, 2222]],
    ["gives way to an earlier one", [{ port: 2222 }, { port: 2222 }], [2222, 12_222]],
    ["is left as it is where both collide", [{ port: 22 }, { port: 22 }], [10_022, 10_022]],
  ])("%s", (_, mappings, listens) => expect(assignListen(mappings, HEALTH)).toEqual(listens));

  it("of an earlier mapping never moves when a mapping without one is added", () => {
    const mapping = fc.record({ port: fc.integer({ min: 22, max: 32_768 }) });
    fc.assert(
      fc.property(fc.array(mapping), mapping, (mappings, added) => {
        expect(assignListen([...mappings, added], HEALTH).slice(0, -1)).toEqual(
          assignListen(mappings, HEALTH),
        );
      }),
    );
  });
});

describe("the platform's rules", () => {
  it.each(RESERVED_PORTS)("no container declares %i", (port) => {
    expect(containerPortProblem(port)).toBe("is reserved by the platform's sidecar");
  });

  it.each([
    [79, "must be 80 or above: the platform lets no container declare a lower port"],
    [0, "must be a port, 1-65535"],
    [65_536, "must be a port, 1-65535"],
    [22.5, "must be a port, 1-65535"],
    [80, undefined],
    [65_535, undefined],
  ])("container port %d: %s", (port, reason) => expect(containerPortProblem(port)).toBe(reason));

  it.each([
    [21, false],
    [22, true],
    [32_768, true],
    [32_769, false],
    [22.5, false],
  ])("public port %d: %s", (port, fine) => expect(publicPortProblem(port) === undefined).toBe(fine));
});

it("duplicates are every value's later places", () => {
  expect(duplicates([1, 2, 1, 3, 2, 1])).toEqual([2, 4, 5]);
});
