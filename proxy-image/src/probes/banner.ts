import { matches } from "./bytes";
import type { Protocol } from "./protocol";

/** Whatever a server says of its own accord. */
export const banner = ({ pattern }: { pattern?: string }): Protocol => ({
  clientFirst: false,
  judge: (bytes) => {
    if (bytes.length === 0) return "more";
    return pattern === undefined || matches(bytes, pattern) ? "ready" : "more";
  },
});
