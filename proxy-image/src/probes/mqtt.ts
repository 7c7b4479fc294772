import { either, fitsTls, varInt } from "./bytes";
import type { Fit, Judgement, Protocol } from "./protocol";

const CONNECT = 0x10;
const CONNACK = 0x20;
const KEEP_ALIVE_S = 10;

/** A CONNECT of version 3.1.1 without a name, a will or a session. A CONNACK with any code shows a broker. */
export const mqtt = (): Protocol => ({
  hello: Buffer.from([CONNECT, 12, 0, 4, ...Buffer.from("MQTT"), 4, 2, 0, KEEP_ALIVE_S, 0, 0]),
  clientFirst: true,
  judge: (bytes): Judgement => {
    if (bytes.length === 0) return "more";
    if (bytes[0] !== CONNACK) return "not-ready";
    const length = varInt(bytes, 1, 4);
    if (length === undefined) return "more";
    if (!(length.value >= 2)) return "not-ready";
    return bytes.length < length.next + 2 ? "more" : "ready";
  },
  // Clients may send on before the answer: what follows the CONNECT is not repeated.
  repeatable: (sent) => {
    const length = varInt(sent, 1, 4);
    return length === undefined || sent.length <= length.next + length.value;
  },
  fits: (bytes) => either(fitsConnect(bytes), fitsTls(bytes)),
});

function fitsConnect(bytes: Buffer): Fit {
  if (bytes.length === 0) return "more";
  if (bytes[0] !== CONNECT) return "unfit";
  const length = varInt(bytes, 1, 4);
  if (length === undefined) return "more";
  const names = [Buffer.from("\0\x04MQTT", "latin1"), Buffer.from("\0\x06MQIsdp", "latin1")];
  const body = bytes.subarray(length.next);
  if (names.some((name) => body.subarray(0, name.length).equals(name))) return "fits";
  return names.some((name) => name.subarray(0, body.length).equals(body)) ? "more" : "unfit";
}
