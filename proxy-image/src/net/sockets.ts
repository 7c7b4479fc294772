import type { Socket } from "node:net";
import type { Clock } from "../runtime/clock";

/** Dead peers are noticed without a byte of theirs: on both legs of a session. */
export const KEEPALIVE_MS = 30_000;

/**
 * Where a name has several addresses, each gets this long before the next is tried. Node's own figure, 250 ms, gives
 * up addresses that are merely far away.
 */
export const ADDRESS_TIMEOUT_MS = 2_000;

/**
 * With a mark of one byte a paused socket stops reading after one chunk, so what a stalled session costs is bounded
 * by the read size (64 KiB), and a stream's own buffer never grows behind our back.
 */
export const HIGH_WATER_MARK = 1;

const ignore = () => {};

/** An error event that nobody listens to ends the process: every socket gets a listener that never goes away. */
export function harmless<S extends Socket>(socket: S): S {
  return socket.on("error", ignore);
}

/**
 * Ends a socket with a reset, so that a cut session can't be taken for a complete one. While an orderly end is being
 * sent a reset is refused by libuv and the handle would leak; everything has been delivered by then, and a plain
 * close says the same.
 */
export function abort(socket: Socket): void {
  if (socket.destroyed) return;
  const ending = socket.writableEnded && socket.writableLength === 0 && !socket.writableFinished;
  if (ending || socket.connecting) socket.destroy();
  else socket.resetAndDestroy();
}

/** How long a client may take to end its own half before its socket is closed all the same. */
const LINGER_MS = 1_000;

/**
 * Ends a socket in order. Closing one while bytes lie unread makes the kernel send a reset, so they are read and
 * thrown away until the client ends too, for a short while.
 */
export function closeInOrder(socket: Socket, clock: Pick<Clock, "timer">): void {
  if (socket.destroyed) return;
  const cancel = clock.timer(LINGER_MS, () => socket.destroy());
  socket.on("close", cancel);
  socket.end();
  socket.resume();
}

/** What follows after the first so many bytes. */
export function after(chunks: readonly Buffer[], bytes: number): Buffer[] {
  let skip = bytes;
  return chunks.flatMap((chunk) => {
    const rest = chunk.subarray(Math.min(skip, chunk.length));
    skip -= chunk.length - rest.length;
    return rest.length > 0 ? [rest] : [];
  });
}

/** What is left in the stream's own buffer. */
export function drainBuffered(socket: Socket): Buffer[] {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return chunks;
    chunks.push(chunk);
  }
}
