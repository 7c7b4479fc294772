import { byPrefix } from "./bytes";
import type { Protocol } from "./protocol";

export const pop3 = (): Protocol => ({
  clientFirst: false,
  judge: (bytes) =>
    byPrefix(bytes, [
      ["+OK", "ready"],
      ["-ERR", "ready"],
    ]),
});
