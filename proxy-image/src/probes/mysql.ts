import type { Judgement, Protocol } from "./protocol";

const SERVER_SHUTDOWN = 1053;

/**
 * A packet (three bytes of length, a number) with a greeting of protocol 9 or 10, or an error. Errors such as 1040
 * (too many connections) and 1129 or 1130 (host blocked, not allowed) are the client's to see.
 */
export const mysql = (): Protocol => ({
  clientFirst: false,
  judge: (bytes): Judgement => {
    if (bytes.length > 3 && bytes[3] !== 0) return "not-ready";
    const kind = bytes[4];
    if (kind === undefined) return "more";
    if (kind === 9 || kind === 10) return "ready";
    if (kind !== 255) return "not-ready";
    if (bytes.length < 7) return "more";
    return bytes.readUInt16LE(5) === SERVER_SHUTDOWN ? "not-ready" : "ready";
  },
});
