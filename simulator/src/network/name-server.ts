import type dgram from "node:dgram";

/**
 * Answers A questions for names that exist, AAAA questions for them with "no such record", and nothing at all
 * otherwise: the mesh's name server never says that a name does not exist, so a wrong one times out.
 */
export function serveNames(
  socket: dgram.Socket,
  resolve: (name: string, caller: string) => string | undefined,
): void {
  socket.on("message", (message, from) => {
    const question = readQuestion(message);
    if (question === undefined) return;
    const address = resolve(question.name, from.address);
    if (address === undefined) return;
    const answer = writeAnswer(message, question, question.type === typeA ? address : undefined);
    // A caller that has gone meanwhile is nobody's trouble.
    socket.send(answer, from.port, from.address, () => {});
  });
  socket.on("error", () => {});
}

const typeA = 1;
const classIn = 1;
const headerBytes = 12;

interface Question {
  name: string;
  type: number;
  end: number;
}

export function readQuestion(message: Buffer): Question | undefined {
  if (message.length < headerBytes + 5) return undefined;
  const isQuery = (message.readUInt16BE(2) & 0x8000) === 0;
  if (!isQuery || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = headerBytes;
  for (;;) {
    const length = message[at];
    // Compression (the two high bits) has no place in a question.
    if (length === undefined || length > 63) return undefined;
    at += 1;
    if (length === 0) break;
    if (at + length > message.length) return undefined;
    labels.push(message.toString("latin1", at, at + length));
    at += length;
  }
  if (at + 4 > message.length || message.readUInt16BE(at + 2) !== classIn) return undefined;
  return { name: labels.join("."), type: message.readUInt16BE(at), end: at + 4 };
}

function writeAnswer(query: Buffer, question: Question, address: string | undefined): Buffer {
  const header = Buffer.alloc(headerBytes);
  query.copy(header, 0, 0, 2);
  // An answer, authoritative, recursion asked for and available, no error.
  header.writeUInt16BE(0x8580, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(address === undefined ? 0 : 1, 6);
  const asked = query.subarray(headerBytes, question.end);
  if (address === undefined) return Buffer.concat([header, asked]);
  const record = Buffer.alloc(16);
  record.writeUInt16BE(0xc000 | headerBytes, 0);
  record.writeUInt16BE(typeA, 2);
  record.writeUInt16BE(classIn, 4);
  // Not remembered: a test may move names at any time.
  record.writeUInt32BE(0, 6);
  record.writeUInt16BE(4, 10);
  record.set(address.split(".").map(Number), 12);
  return Buffer.concat([header, asked, record]);
}
