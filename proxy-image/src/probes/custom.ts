import { matches } from "./bytes";
import type { Protocol } from "./protocol";

/** An exchange of the user's own. What its first message does is not known, so it is never repeated. */
export const custom = ({ send, expect }: { send: string; expect?: string }): Protocol => ({
  hello: Buffer.from(send, "hex"),
  clientFirst: true,
  judge: (bytes) => {
    if (bytes.length === 0) return "more";
    return expect === undefined || matches(bytes, expect) ? "ready" : "more";
  },
});
