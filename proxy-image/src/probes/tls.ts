import { fitsTls } from "./bytes";
import type { Judgement, Protocol } from "./protocol";

/** Not from `node:crypto`, which is much to load for every start, and few ports are asked by TLS. */
const randomBytes = (): Buffer => Buffer.from(crypto.getRandomValues(new Uint8Array(32)));

const HANDSHAKE = 22;
const ALERT = 21;
const SERVER_HELLO = 2;

/** A ClientHello. A ServerHello shows a server, and so does an alert: it knows TLS and does not like this client. */
export const tls = ({ serverName }: { serverName?: string }): Protocol => ({
  hello: clientHello(serverName),
  clientFirst: true,
  judge: (bytes): Judgement => {
    const [kind, major] = bytes;
    if (kind === undefined) return "more";
    if ((kind !== HANDSHAKE && kind !== ALERT) || (major ?? 3) !== 3) return "not-ready";
    if (bytes.length < 6) return "more";
    return kind === ALERT || bytes[5] === SERVER_HELLO ? "ready" : "not-ready";
  },
  // A ClientHello alone: early data behind it would be done twice.
  repeatable: (sent) => sent.length < 5 || sent.length <= 5 + sent.readUInt16BE(3),
  fits: fitsTls,
});

const u8 = (value: number): Buffer => Buffer.from([value]);
const u16 = (...values: number[]): Buffer =>
  Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
/** A list with its length before it, in one, two or three bytes. */
function sized(bytes: 1 | 2 | 3, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(bytes);
  head.writeUIntBE(body.length, 0, bytes);
  return Buffer.concat([head, body]);
}
const extension = (type: number, ...body: Buffer[]): Buffer => Buffer.concat([u16(type), sized(2, ...body)]);

/** TLS 1.3 and 1.2 with the suites and groups that every server of these years knows. */
function clientHello(serverName: string | undefined): Buffer {
  const name = serverName === undefined ? [] : [serverNameExtension(serverName)];
  const body = Buffer.concat([
    u16(0x0303),
    randomBytes(),
    sized(1, randomBytes()),
    sized(2, u16(0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0x009c, 0x002f)),
    sized(1, u8(0)),
    sized(
      2,
      ...name,
      extension(10, sized(2, u16(0x001d, 0x0017, 0x0018))),
      extension(11, sized(1, u8(0))),
      extension(
        13,
        sized(2, u16(0x0403, 0x0503, 0x0603, 0x0807, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601)),
      ),
      extension(43, sized(1, u16(0x0304, 0x0303))),
      // Any 32 bytes are a public key of x25519.
      extension(51, sized(2, u16(0x001d), sized(2, randomBytes()))),
    ),
  ]);
  return Buffer.concat([u8(HANDSHAKE), u16(0x0301), sized(2, u8(1), sized(3, body))]);
}

const serverNameExtension = (name: string): Buffer =>
  extension(0, sized(2, u8(0), sized(2, Buffer.from(name, "latin1"))));
