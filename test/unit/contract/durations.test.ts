import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "../../../src/contract/durations.ts";

describe("a duration is read as Go reads it", () => {
  it.each([
    ["500ms", 500],
    ["1.5s", 1500],
    ["90s", 90_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1h1m1.001s", 3_661_001],
    ["30m1h", 5_400_000],
    ["0", 0],
    ["0s", 0],
    [".5s", 500],
    ["1.s", 1000],
    ["0.1s0.9s", 1000],
    ["1000us", 1],
    ["1000\u00b5s", 1],
    ["1000\u03bcs", 1],
    ["1000000ns", 1],
    ["999000000ns1000us", 1000],
    ["  5m ", 300_000],
    ["+5m", 300_000],
    ["-5m", -300_000],
  ])("%j", (text, ms) => expect(parseDuration(text)).toEqual({ ok: true, ms }));

  it.each([
    ["", "must be a duration such as 500ms, 5m or 1h30m"],
    ["-", "must be a duration such as 500ms, 5m or 1h30m"],
    ["5 m", "must be a duration such as 500ms, 5m or 1h30m"],
    ["5 minutes", "must be a duration such as 500ms, 5m or 1h30m"],
    ["5d", "must be a duration such as 500ms, 5m or 1h30m"],
    ["5M", "must be a duration such as 500ms, 5m or 1h30m"],
    ["m", "must be a duration such as 500ms, 5m or 1h30m"],
    [".s", "must be a duration such as 500ms, 5m or 1h30m"],
    ["1e3s", "must be a duration such as 500ms, 5m or 1h30m"],
    ["--5m", "must be a duration such as 500ms, 5m or 1h30m"],
    ["300", "needs a unit, such as 300s or 300m"],
    ["-300", "needs a unit, such as 300s or 300m"],
    ["1us", "must be a whole number of milliseconds"],
    ["0.0001s", "must be a whole number of milliseconds"],
    ["0.5ns", "is finer than a nanosecond"],
    ["99999999999999999h", "is too long"],
    ["1".repeat(41), "is too long for a duration such as 5m or 1h30m"],
  ])("%j is refused", (text, reason) => expect(parseDuration(text)).toEqual({ ok: false, reason }));
});

describe("a duration is written", () => {
  it.each([
    [0, "0s"],
    [1, "1ms"],
    [999, "999ms"],
    [1000, "1s"],
    [1500, "1.5s"],
    [1001, "1.001s"],
    [60_000, "1m"],
    [90_000, "1m30s"],
    [300_000, "5m"],
    [3_600_000, "1h"],
    [3_600_500, "1h0.5s"],
    [604_800_000, "168h"],
  ])("%i as %j", (ms, text) => expect(formatDuration(ms)).toBe(text));

  it("and read back as the same", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ ok: true, ms });
      }),
    );
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])("never from %d", (ms) => {
    expect(() => formatDuration(ms)).toThrow(RangeError);
  });
});

it("no text makes it throw", () => {
  const unit = fc.constantFrom("h", "m", "s", "ms", "us", "ns", "x", "", ".", "-", "+", " ");
  const text = fc.array(fc.oneof(unit, fc.nat().map(String))).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), (each) => {
      const parsed = parseDuration(each);
      expect(parsed.ok ? Number.isSafeInteger(parsed.ms) : parsed.reason.length > 0).toBe(true);
    }),
  );
});
