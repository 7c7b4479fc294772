import { either, firstLine, fitsTls } from "./bytes";
import type { Fit, Judgement, Protocol } from "./protocol";

/** A replica without its master, and a server that still reads its files: up, but useful to nobody yet. */
const NOT_YET = ["LOADING", "MASTERDOWN"];

/** Any other error (NOAUTH, NOPERM, DENIED, too many clients, BUSY) is the client's to see. */
export const redis = (): Protocol => ({
  hello: Buffer.from("*1\r\n$4\r\nPING\r\n"),
  clientFirst: true,
  judge: (bytes): Judgement => {
    if (bytes.length > 0 && bytes[0] !== 43 && bytes[0] !== 45) return "not-ready";
    const line = firstLine(bytes);
    if (line === undefined) return "more";
    return NOT_YET.includes(line.slice(1).split(" ")[0] ?? "") ? "not-ready" : "ready";
  },
  fits: (bytes) => either(fitsCommand(bytes), fitsTls(bytes)),
});

/** An array of arguments, or a command typed by hand; not a request of HTTP, which scanners try everywhere. */
function fitsCommand(bytes: Buffer): Fit {
  const text = bytes.toString("latin1", 0, 64);
  if (/^(\*\d{1,7}\r?\n|[A-Za-z]{2,20}( [^\r\n]*)?\r?\n)/.test(text)) {
    return /^[A-Z]+ .* HTTP\/\d/.test(text) ? "unfit" : "fits";
  }
  return /^(\*\d{0,7}\r?|[A-Za-z]{1,20}( [^\r\n]*)?\r?)$/.test(text) || text === ""
    ? stillOpen(text)
    : "unfit";
}

const stillOpen = (text: string): Fit => (text.length < 64 ? "more" : "unfit");
