import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitOf, protocolOf } from "../../../proxy-image/src/probes/index.ts";
import type { Fit, Judgement } from "../../../proxy-image/src/probes/protocol.ts";
import { KINDS, PROTOCOLS } from "../../../src/contract/readiness.ts";
import { readReadiness } from "../../../src/contract/readiness-grammar.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

function made(readiness: unknown) {
  const read = readReadiness(readiness);
  if (!read.ok) throw new Error(JSON.stringify(read.refusals));
  return protocolOf({ readiness: read.value, target: 25_565 }, "target.internal");
}

/** A PostgreSQL error with the fields that a server sends. */
function postgresError(code: string, message: string): Buffer {
  const fields = latin1(`SFATAL\0VFATAL\0C${code}\0M${message}\0Fpostmaster.c\0L2345\0\0`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + fields.length);
  return Buffer.concat([latin1("E"), length, fields]);
}
const mysqlPacket = (body: Buffer) => Buffer.concat([Buffer.from([body.length, 0, 0, 0]), body]);
const mysqlError = (code: number) => mysqlPacket(Buffer.from([255, code & 255, code >> 8, 35, 48]));

const ANSWERS: [unknown, string, Buffer, Judgement][] = [
  ["banner", "anything", latin1("x"), "ready"],
  [{ kind: "banner", pattern: "^220 .*ready" }, "a match", latin1("220 is ready"), "ready"],
  [{ kind: "banner", pattern: "^220" }, "no match", latin1("421 no"), "more"],
  [{ kind: "banner", pattern: "\\xff\\x00" }, "bytes", Buffer.from([1, 255, 0]), "ready"],
  [{ kind: "custom", send: "x" }, "any bytes", latin1("?"), "ready"],
  [{ kind: "custom", send: "x", expect: "^OK$" }, "a match", latin1("OK"), "ready"],
  ["ssh", "a version", latin1("SSH-2.0-OpenSSH_9.2\r\n"), "ready"],
  ["ssh", "lines before the version", latin1("welcome\r\nto this\r\nSSH-2.0-x\r\n"), "ready"],
  ["ssh", "a full house", latin1("Exceeded MaxStartups\r\n"), "ready"],
  ["ssh", "something else", latin1("HTTP/1.1 503 Service Unavailable\r\n"), "more"],
  ["smtp", "a greeting", latin1("220 mail.example.com ESMTP\r\n"), "ready"],
  ["smtp", "a greeting of several lines", latin1("220-mail\r\n220 ESMTP\r\n"), "ready"],
  ["smtp", "no service for you", latin1("554 no\r\n"), "ready"],
  ["smtp", "come back later", latin1("421 later\r\n"), "not-ready"],
  ["smtp", "no reply", latin1("SSH-2.0-x\r\n"), "not-ready"],
  ["ftp", "a greeting", latin1("220 (vsFTPd 3.0.3)\r\n"), "ready"],
  ["ftp", "too many users", latin1("421 too many\r\n"), "ready"],
  ["ftp", "wait some minutes", latin1("120 in 3 minutes\r\n"), "not-ready"],
  ["imap", "a greeting", latin1("* OK ready\r\n"), "ready"],
  ["imap", "goodbye", latin1("* BYE no\r\n"), "ready"],
  ["imap", "something else", latin1("+OK\r\n"), "not-ready"],
  ["pop3", "a greeting", latin1("+OK\r\n"), "ready"],
  ["pop3", "not for you", latin1("-ERR no\r\n"), "ready"],
  ["pop3", "something else", latin1("* OK\r\n"), "not-ready"],
  ["mysql", "a greeting", mysqlPacket(latin1("\x0a8.0.36\0")), "ready"],
  ["mysql", "too many connections", mysqlError(1040), "ready"],
  ["mysql", "host blocked", mysqlError(1129), "ready"],
  ["mysql", "host not allowed", mysqlError(1130), "ready"],
  ["mysql", "shutting down", mysqlError(1053), "not-ready"],
  ["mysql", "something else", latin1("SSH-2.0-x\r\n"), "not-ready"],
  ["postgres", "a password wanted", latin1("R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0"), "ready"],
  ["postgres", "starting up", postgresError("57P03", "the database system is starting up"), "not-ready"],
  ["postgres", "shutting down", postgresError("57P01", "terminating"), "not-ready"],
  ["postgres", "too many clients", postgresError("53300", "sorry, too many clients"), "ready"],
  ["postgres", "no such role", postgresError("28000", "role does not exist"), "ready"],
  ["postgres", "a server that can't fork", latin1("Ecould not fork new process\n\0"), "not-ready"],
  ["postgres", "an answer to SSLRequest", latin1("N"), "not-ready"],
  ["redis", "PONG", latin1("+PONG\r\n"), "ready"],
  ["redis", "NOAUTH", latin1("-NOAUTH Authentication required.\r\n"), "ready"],
  ["redis", "protected", latin1("-DENIED Redis is running in protected mode\r\n"), "ready"],
  ["redis", "too many clients", latin1("-ERR max number of clients reached\r\n"), "ready"],
  ["redis", "LOADING", latin1("-LOADING Redis is loading the dataset in memory\r\n"), "not-ready"],
  ["redis", "MASTERDOWN", latin1("-MASTERDOWN Link with MASTER is down\r\n"), "not-ready"],
  ["redis", "something else", latin1("HTTP/1.1 400 Bad Request\r\n"), "not-ready"],
  ["mqtt", "accepted", Buffer.from([0x20, 2, 0, 0]), "ready"],
  ["mqtt", "not authorised", Buffer.from([0x20, 2, 0, 5]), "ready"],
  ["mqtt", "something else", latin1("HTTP/1.1 400\r\n"), "not-ready"],
  ["amqp", "Connection.Start", latin1("\x01\0\0\0\0\x01\xff\0\x0a\0\x0a\0\x09"), "ready"],
  ["amqp", "another version", latin1("AMQP\x03\x01\0\0"), "ready"],
  ["amqp", "something else", latin1("HTTP/1.1 400\r\n"), "not-ready"],
  ["http", "200", latin1("HTTP/1.1 200 OK\r\n"), "ready"],
  ["http", "a redirect", latin1("HTTP/1.0 301 Moved\r\n"), "ready"],
  ["http", "not found", latin1("HTTP/1.1 404 Not Found\r\n"), "ready"],
  ["http", "starting", latin1("HTTP/1.1 503 Service Unavailable\r\n"), "not-ready"],
  [
    "http",
    "hints, then 200",
    latin1("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\n"),
    "ready",
  ],
  ["http", "something else", latin1("SSH-2.0-x\r\n"), "not-ready"],
  ["tls", "ServerHello", Buffer.from([22, 3, 3, 0, 90, 2, 0, 0]), "ready"],
  ["tls", "an alert", Buffer.from([21, 3, 3, 0, 2, 2, 40]), "ready"],
  ["tls", "something else", latin1("HTTP/1.1 400\r\n"), "not-ready"],
  ["minecraft", "a status", Buffer.concat([Buffer.from([12, 0, 10]), latin1('{"a": "bc"}')]), "ready"],
  ["minecraft", "an old server's kick", Buffer.from([255, 0, 1]), "ready"],
  ["minecraft", "something else", latin1("HTTP/1.1 400\r\n"), "not-ready"],
  ["memcached", "a version", latin1("VERSION 1.6.18\r\n"), "ready"],
  ["memcached", "too many", latin1("ERROR Too many open connections\r\n"), "ready"],
  ["memcached", "something else", latin1("HTTP/1.1 400\r\n"), "not-ready"],
];

describe("a judge", () => {
  it.each(ANSWERS)("of %j knows %s, whole and cut at every byte", (readiness, _, answer, expected) => {
    const { judge } = made(readiness);
    expect(judge(answer)).toBe(expected);
    const soFar = Array.from({ length: answer.length }, (_, end) => judge(answer.subarray(0, end)));
    const first = soFar.findIndex((each) => each !== "more");
    // Once it has decided, nothing that follows changes its mind.
    expect(new Set(first < 0 ? [] : soFar.slice(first))).toEqual(new Set(first < 0 ? [] : [expected]));
    expect(judge(Buffer.alloc(0))).toBe("more");
  });

  it.each(Object.keys(KINDS))("of %s stands any bytes, and sticks to its word", (kind) => {
    const { judge } = made(kind === "custom" ? { kind, send: "x" } : kind);
    const openings = ANSWERS.map(([, , answer]) => answer);
    const start = fc.oneof(
      fc.constant(Buffer.alloc(0)),
      fc.tuple(fc.constantFrom(...openings), fc.nat(12)).map(([bytes, length]) => bytes.subarray(0, length)),
    );
    fc.assert(
      fc.property(
        start,
        fc.uint8Array({ maxLength: 40 }),
        fc.uint8Array({ maxLength: 20 }),
        (head, some, more) => {
          const said = judge(Buffer.concat([head, some]));
          if (said !== "more") expect(judge(Buffer.concat([head, some, more]))).toBe(said);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("is there for every protocol, and asks where the client speaks first", () => {
    for (const [name, { first, fits }] of Object.entries(PROTOCOLS)) {
      const protocol = made(name);
      expect(protocol.clientFirst, name).toBe(first === "client");
      expect(protocol.hello !== undefined, name).toBe(first === "client");
      expect(protocol.fits !== undefined, name).toBe(fits);
    }
  });
});

const word = (value: number) =>
  Buffer.from([value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255]);
const clientHello = made("tls").hello ?? Buffer.alloc(0);
const scans = {
  "an HTTP request": latin1("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
  "an SSH client": latin1("SSH-2.0-Go\r\n"),
  "a TLS client": clientHello,
  junk: Buffer.from([7, 200, 13, 10, 99, 5, 5, 5, 5, 5, 5, 5]),
  "an RDP client": Buffer.from([3, 0, 0, 19, 14, 224, 0, 0, 0, 0, 0, 1, 0, 8, 0, 3, 0, 0, 0]),
};
const tlsToo = ["postgres", "redis", "mqtt", "amqp", "memcached", "tls"];

const CLIENTS: [string, string, Buffer, Fit][] = [
  ["ssh", "OpenSSH", latin1("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), "fits"],
  ["postgres", "StartupMessage", made("postgres").hello ?? Buffer.alloc(0), "fits"],
  ["postgres", "SSLRequest", Buffer.concat([word(8), word(80_877_103)]), "fits"],
  ["redis", "a command", latin1("*1\r\n$4\r\nPING\r\n"), "fits"],
  ["redis", "a typed command", latin1("PING\r\n"), "fits"],
  ["mqtt", "CONNECT", made("mqtt").hello ?? Buffer.alloc(0), "fits"],
  ["mqtt", "CONNECT of 3.1", Buffer.concat([Buffer.from([0x10, 20]), latin1("\0\x06MQIsdp\x03")]), "fits"],
  ["amqp", "0-9-1", latin1("AMQP\0\0\x09\x01"), "fits"],
  ["amqp", "1.0", latin1("AMQP\x03\x01\0\0"), "fits"],
  ["http", "a request", latin1("OPTIONS * HTTP/1.1\r\n"), "fits"],
  ["http", "HTTP/2", latin1("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "fits"],
  ["tls", "ClientHello", clientHello, "fits"],
  ["minecraft", "a player who joins", Buffer.from([8, 0, 5, 2, 65, 66, 99, 221, 2]), "fits"],
  ["minecraft", "a server list", Buffer.from([8, 0, 5, 2, 65, 66, 99, 221, 1]), "unfit"],
  ["memcached", "a command", latin1("get key\r\n"), "fits"],
  ["memcached", "a binary request", Buffer.from([128, 0, 0, 0]), "fits"],
  ...Object.keys(PROTOCOLS)
    .filter((name) => made(name).fits)
    .flatMap((name) =>
      Object.entries(scans).map(([what, bytes]): [string, string, Buffer, Fit] => {
        const own =
          (what === "an HTTP request" && name === "http") || (what === "an SSH client" && name === "ssh");
        return [
          name,
          what,
          bytes,
          own || (what === "a TLS client" && tlsToo.includes(name)) ? "fits" : "unfit",
        ];
      }),
    ),
];

describe("what fits", () => {
  it.each(CLIENTS)("%s: %s, whole and cut at every byte", (kind, _, bytes, expected) => {
    const protocol = made(kind);
    const fit = (end: number) => fitOf(protocol, "fitting", bytes.subarray(0, end));
    expect(fit(bytes.length)).toBe(expected);
    for (let end = 0; end < bytes.length; end += 1) expect(["more", expected]).toContain(fit(end));
    expect(fitOf(protocol, "connect", Buffer.alloc(0))).toBe("fits");
    expect(fitOf(protocol, "payload", Buffer.alloc(0))).toBe("more");
    expect(fitOf(protocol, "payload", bytes.subarray(0, 1))).toBe("fits");
  });

  it("stands any bytes", () => {
    const names = Object.keys(PROTOCOLS).filter((name) => made(name).fits);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.uint8Array({ maxLength: 80 }), (name, bytes) => {
        expect(["more", "fits", "unfit"]).toContain(fitOf(made(name), "fitting", Buffer.from(bytes)));
      }),
    );
  });
});

describe("what may be sent twice", () => {
  const twice = (kind: unknown, bytes: Buffer) => made(kind).repeatable?.(bytes) ?? false;

  it("is a first message that does nothing", () => {
    for (const kind of ["tls", "postgres", "mqtt", "amqp"]) {
      const hello = made(kind).hello ?? Buffer.alloc(0);
      expect(twice(kind, hello), kind).toBe(true);
      expect(twice(kind, Buffer.concat([hello, latin1("and what follows")])), kind).toBe(false);
    }
    expect(twice("postgres", clientHello)).toBe(true);
    expect(twice("minecraft", made("minecraft").hello ?? Buffer.alloc(0))).toBe(true);
  });

  it("is nothing of HTTP, Redis, memcached or an exchange of one's own", () => {
    for (const kind of ["http", "redis", "memcached", { kind: "custom", send: "x" }, "platform"]) {
      expect(twice(kind, latin1("x"))).toBe(false);
    }
  });

  it("is whatever `replay` allows, up to its bound", () => {
    expect(twice({ kind: "replay", bytes: 3 }, latin1("abc"))).toBe(true);
    expect(twice({ kind: "replay", bytes: 3 }, latin1("abcd"))).toBe(false);
  });
});
