import { varInt } from "./bytes";
import type { Fit, Judgement, Place, Protocol } from "./protocol";

const STATUS = 1;
/** Login, and a transfer from another server. */
const JOINING = [2, 3];
const LEGACY_KICK = 255;
const MAX_HANDSHAKE = 300;

/**
 * The status that a server list asks for. Of a client only one that wants to play fits: a list that is merely open
 * must not wake a world.
 */
export const minecraft = (_: object, { host, port }: Place): Protocol => ({
  hello: Buffer.concat([packet(handshake(host, port)), packet(Buffer.alloc(0))]),
  clientFirst: true,
  judge: (bytes): Judgement => {
    if (bytes.length === 0) return "more";
    if (bytes[0] === LEGACY_KICK) return "ready";
    const length = varInt(bytes, 0, 5);
    if (length === undefined) return "more";
    const id = bytes[length.next];
    if (id === undefined) return "more";
    return length.value > 1 && id === 0 ? "ready" : "not-ready";
  },
  repeatable: () => true,
  fits,
});

function fits(bytes: Buffer): Fit {
  const length = varInt(bytes, 0, 5);
  if (length === undefined) return "more";
  if (!(length.value > 3 && length.value <= MAX_HANDSHAKE)) return "unfit";
  const end = length.next + length.value;
  if ((bytes[length.next] ?? 0) !== 0) return "unfit";
  if (bytes.length < end) return "more";
  return JOINING.includes(bytes[end - 1] ?? 0) ? "fits" : "unfit";
}

function handshake(host: string, port: number): Buffer {
  const name = Buffer.from(host.slice(0, 255));
  // A version of -1 asks without claiming to be any.
  const version = [255, 255, 255, 255, 15];
  return Buffer.concat([
    Buffer.from([...version, ...small(name.length)]),
    name,
    Buffer.from([port >> 8, port & 255, STATUS]),
  ]);
}

/** A packet of id 0. */
const packet = (body: Buffer): Buffer => Buffer.concat([Buffer.from([...small(body.length + 1), 0]), body]);

const small = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, value >> 7]);
