import { either, fitsTls } from "./bytes";
import type { Fit, Judgement, Protocol } from "./protocol";

const VERSION_3 = 196_608;
/** The longest error that is taken for one; beyond it, it is text of a server that failed to fork. */
const MAX_ERROR = 30_000;
/** Starting up, shutting down, a standby that takes nobody; and the two that end a shutdown. */
const NOT_YET = new Set(["57P01", "57P02", "57P03"]);
/** StartupMessage, CancelRequest, SSLRequest, GSSENCRequest. */
const REQUESTS = new Set([VERSION_3, VERSION_3 + 2, 80_877_102, 80_877_103, 80_877_104]);
const MAX_STARTUP = 10_000;

/**
 * A StartupMessage, as `pg_isready` sends it. An SSLRequest would prove nothing: the postmaster answers it while the
 * database is still starting, and a bare connection leaves "incomplete startup packet" in its log.
 */
export const postgres = ({ user, database }: { user: string; database: string }): Protocol => ({
  hello: startup({ user, database, application_name: "scale-to-zero" }),
  clientFirst: true,
  judge,
  repeatable: (sent) => {
    const record =
      sent.length >= 5 && fitsTls(sent.subarray(0, 6)) !== "unfit" ? sent.readUInt16BE(3) + 5 : undefined;
    return sent.length <= (record ?? (sent.length < 4 ? 4 : sent.readUInt32BE(0)));
  },
  // Since version 17 a client may begin with TLS.
  fits: (bytes) => either(fitsStartup(bytes), fitsTls(bytes)),
});

function startup(parameters: Record<string, string>): Buffer {
  const pairs = Object.entries(parameters).flat();
  const body = Buffer.from(`${pairs.join("\0")}\0\0`);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length, 0);
  head.writeUInt32BE(VERSION_3, 4);
  return Buffer.concat([head, body]);
}

function judge(bytes: Buffer): Judgement {
  const kind = bytes.toString("latin1", 0, 1);
  if (kind === "") return "more";
  // Any request for authentication, or a word about the protocol's version.
  if (kind === "R" || kind === "v") return "ready";
  if (kind !== "E") return "not-ready";
  if (bytes.length < 5) return "more";
  const length = bytes.readUInt32BE(1);
  if (length < 8 || length > MAX_ERROR) return "not-ready";
  const code = errorCode(bytes.subarray(5, 1 + length));
  if (code !== undefined) return NOT_YET.has(code) ? "not-ready" : "ready";
  return bytes.length < 1 + length ? "more" : "not-ready";
}

/** Fields are a letter and text that ends with a zero; `C` is the code. */
function errorCode(fields: Buffer): string | undefined {
  for (let at = 0; at < fields.length; ) {
    const end = fields.indexOf(0, at);
    if (end < 0) return undefined;
    if (fields[at] === 67) return fields.toString("latin1", at + 1, end);
    at = end + 1;
  }
  return undefined;
}

function fitsStartup(bytes: Buffer): Fit {
  if (bytes.length < 8) return bytes.length > 0 && bytes[0] !== 0 ? "unfit" : "more";
  const length = bytes.readUInt32BE(0);
  return length >= 8 && length <= MAX_STARTUP && REQUESTS.has(bytes.readUInt32BE(4)) ? "fits" : "unfit";
}
