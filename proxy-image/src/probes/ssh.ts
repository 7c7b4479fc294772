import { begins, fitsPrefix } from "./bytes";
import type { Judgement, Protocol } from "./protocol";

/** OpenSSH's words for a client that it takes no more of: it is up, and the client should hear it. */
const REFUSALS = ["Exceeded MaxStartups", "Not allowed at this time"];

const OPENING = "SSH-";

/** RFC 4253, 4.2: other lines may come before the version. OpenSSH, PuTTY, WinSCP and paramiko speak at once. */
export const ssh = (): Protocol => ({
  clientFirst: false,
  judge: (bytes): Judgement => {
    for (let at = 0; ; ) {
      const rest = bytes.subarray(at);
      if ([OPENING, ...REFUSALS].some((text) => begins(rest, text) === true)) return "ready";
      const end = bytes.indexOf(10, at);
      if (end < 0) return "more";
      at = end + 1;
    }
  },
  fits: (bytes) => fitsPrefix(bytes, OPENING),
  opening: Buffer.from(OPENING),
});
