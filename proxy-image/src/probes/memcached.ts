import { byPrefix, either, fitsTls } from "./bytes";
import type { Fit, Protocol } from "./protocol";

const BINARY_REQUEST = 128;

/** `version` touches nothing. An error, such as for too many connections, comes from a server that is up. */
export const memcached = (): Protocol => ({
  hello: Buffer.from("version\r\n"),
  clientFirst: true,
  judge: (bytes) =>
    byPrefix(bytes, [
      ["VERSION ", "ready"],
      ["ERROR", "ready"],
      ["CLIENT_ERROR", "ready"],
      ["SERVER_ERROR", "ready"],
    ]),
  fits: (bytes) => either(fitsCommand(bytes), fitsTls(bytes)),
});

/** Commands are lower-case words. */
function fitsCommand(bytes: Buffer): Fit {
  if (bytes[0] === BINARY_REQUEST) return "fits";
  const text = bytes.toString("latin1", 0, 32);
  if (/^[a-z_]{2,20}[ \r\n]/.test(text)) return "fits";
  return /^[a-z_]{0,20}$/.test(text) ? "more" : "unfit";
}
