import { byPrefix } from "./bytes";
import type { Protocol } from "./protocol";

/** RFC 9051, 7.1: `BYE` at once means that this client is not wanted. */
export const imap = (): Protocol => ({
  clientFirst: false,
  judge: (bytes) =>
    byPrefix(bytes, [
      ["* OK", "ready"],
      ["* PREAUTH", "ready"],
      ["* BYE", "ready"],
    ]),
});
