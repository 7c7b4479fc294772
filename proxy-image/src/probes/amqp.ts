import { begins, either, fitsPrefix, fitsTls } from "./bytes";
import type { Judgement, Protocol } from "./protocol";

/** Connection.Start on channel 0: a method frame of class 10, method 10. */
const FRAME_HEAD = 7;

/** The header of 0-9-1. A broker of another version answers with its own header, which is as good. */
export const amqp = (): Protocol => ({
  hello: Buffer.from("AMQP\0\0\x09\x01", "latin1"),
  clientFirst: true,
  judge: (bytes): Judgement => {
    const header = begins(bytes, "AMQP");
    if (header === true) return "ready";
    if (header === "more") return "more";
    if (bytes[0] !== 1 || (bytes[1] ?? 0) !== 0 || (bytes[2] ?? 0) !== 0) return "not-ready";
    if (bytes.length < FRAME_HEAD + 4) return "more";
    return bytes.readUInt16BE(FRAME_HEAD) === 10 && bytes.readUInt16BE(FRAME_HEAD + 2) === 10
      ? "ready"
      : "not-ready";
  },
  repeatable: (sent) => sent.length <= 8,
  fits: (bytes) => either(fitsPrefix(bytes, "AMQP"), fitsTls(bytes)),
});
