import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { NativePlane } from "../../../proxy-image/src/net/native-plane.ts";
import { drainBuffered } from "../../../proxy-image/src/net/sockets.ts";
import { describeNative, openNativePlane, Switchboard } from "../../support/native.ts";

const RUNS = 1_000;
const AT_ONCE = 10;
const SIZES = [0, 1, 900, 20_000, 70_000, 300_000];
const SEGMENTS = [1, 700, 9_000, 65_536, 300_000];

let board: Switchboard;

beforeAll(async () => {
  board = await Switchboard.open();
});

afterAll(() => board.close());

/** The same numbers for the same seed, so that a failure can be run again. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761 + 1) >>> 0;
  }

  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  pick(from: readonly number[]): number {
    return from[this.below(from.length)] ?? 0;
  }

  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count);
    for (let at = 0; at + 4 <= count; at += 4) bytes.writeUInt32LE(this.below(2 ** 32), at);
    return bytes;
  }
}

async function send(socket: Socket, bytes: Buffer, dice: Dice): Promise<void> {
  for (let sent = 0; sent < bytes.length; ) {
    const segment = Math.min(
      sent < 1_000 ? dice.pick(SEGMENTS) : 9_000 + dice.below(60_000),
      bytes.length - sent,
    );
    socket.write(bytes.subarray(sent, sent + segment));
    sent += segment;
    if (dice.below(3) === 0) await setImmediate();
  }
  socket.end();
}

/** Reads as a proxy does that holds a client: some chunks or none, for some turns of the event loop or none. */
async function hold(socket: Socket, dice: Dice): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  if (dice.below(2) === 0) return chunks;
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk !== null) chunks.push(chunk);
  };
  socket.on("readable", onReadable);
  for (let turn = dice.below(8); turn > 0; turn--) await setImmediate();
  socket.off("readable", onReadable);
  return [...chunks, ...drainBuffered(socket)];
}

const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

async function run(plane: NativePlane, seed: number): Promise<void> {
  const dice = new Dice(seed);
  const { client, target, atClient, atTarget } = await board.legs();
  const [up, down] = [dice.bytes(dice.pick(SIZES)), dice.bytes(dice.pick(SIZES))];
  const sending = [
    send(atClient.socket, up, new Dice(seed + 1)),
    send(atTarget.socket, down, new Dice(seed + 2)),
  ];
  const [early, first] = await Promise.all([hold(client, dice), hold(target, dice)]);
  const end = new Promise((resolve) =>
    plane.splice({ socket: client, pending: early }, { socket: target, pending: first }, resolve),
  );
  await Promise.all(sending);
  const [gotUp, gotDown] = await Promise.all([
    atTarget.bytes(up.length + 1),
    atClient.bytes(down.length + 1),
  ]);
  expect({ seed, up: hash(gotUp), down: hash(gotDown) }).toEqual({ seed, up: hash(up), down: hash(down) });
  expect(await end).toEqual({ reason: "closed", bytesUp: up.length, bytesDown: down.length });
}

describeNative("handing over", () => {
  it.each([true, false])(
    "loses no byte, however much of a session has gone through Node (splice: %s)",
    async (splice) => {
      const plane = openNativePlane({ splice });
      for (let seed = 0; seed < RUNS * 10; seed += AT_ONCE * 10) {
        await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => run(plane, seed + index * 10)));
      }
      expect(plane.stats()).toMatchObject({ live: 0, splices: splice });
      plane.stop();
    },
  );
});
