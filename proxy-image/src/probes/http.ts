import { fitsPrefix } from "./bytes";
import type { Fit, Judgement, Place, Protocol } from "./protocol";

/** Below 500 the application has answered, whatever it thinks of the request. Its first request is never repeated. */
export const http = (
  request: { method: string; path: string; host?: string },
  { host }: Place,
): Protocol => ({
  hello: Buffer.from(
    `${request.method} ${request.path} HTTP/1.1\r\nHost: ${request.host ?? host}\r\n` +
      "User-Agent: scale-to-zero\r\nAccept: */*\r\nConnection: close\r\n\r\n",
  ),
  clientFirst: true,
  judge,
  fits,
});

const STATUS_LINE = /^HTTP\/\d\.\d (\d{3})(?=[ \r\n])/;
const BEGINNING = /^(H(T(T(P(\/(\d(\.(\d( (\d{0,3})?)?)?)?)?)?)?)?)?)?$/;

function judge(bytes: Buffer): Judgement {
  for (let text = bytes.toString("latin1"); ; ) {
    const status = STATUS_LINE.exec(text)?.[1];
    if (status === undefined) return BEGINNING.test(text) ? "more" : "not-ready";
    if (Number(status) >= 200) return Number(status) < 500 ? "ready" : "not-ready";
    // 1xx: the answer itself follows.
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return "more";
    text = text.slice(end + 4);
  }
}

/** A method of any name, a space and a path; or the preface of HTTP/2. */
function fits(bytes: Buffer): Fit {
  const text = bytes.toString("latin1", 0, 32);
  if (/^[A-Z-]{1,24} [/*A-Za-z]/.test(text)) return "fits";
  if (/^[A-Z-]{0,24} ?$/.test(text)) return "more";
  return fitsPrefix(bytes, "PRI * HTTP/2.0");
}
