import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { CallFailure } from "../core/types";
import { ADDRESS_TIMEOUT_MS } from "../net/sockets";
import type { Clock } from "../runtime/clock";
import { failureOfError, type Response } from "./failure";

/** The limit of one call, from its beginning to the last byte of its answer. */
export const CALL_LIMIT_MS = 10_000;

const MAX_BODY_BYTES = 1024 * 1024;

export interface HttpCall {
  method: "GET" | "PATCH";
  url: URL;
  authorization: string;
  body: string | undefined;
}

export type HttpAnswer = { ok: true; response: Response } | { ok: false; failure: CallFailure };

/** Passed on to the socket; the types of a request do not name it. */
const ADDRESSES = { autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS };

/** `http` costs little and is what the platform speaks inside a workload; `https` is loaded only where it is asked for. */
async function requester(url: URL): Promise<(url: URL, options: RequestOptions) => ClientRequest> {
  return url.protocol === "https:"
    ? (await import("node:https")).request
    : (await import("node:http")).request;
}

/** One call on a connection of its own. Never rejects. */
export async function httpCall(call: HttpCall, clock: Clock): Promise<HttpAnswer> {
  const request = await requester(call.url);
  return new Promise((resolve) => {
    let sent = false;
    const outgoing = request(call.url, {
      method: call.method,
      // A connection kept from an earlier call may be dead by now, and a write on it would have no known outcome.
      agent: false,
      ...ADDRESSES,
      headers: {
        accept: "application/json",
        authorization: call.authorization,
        ...(call.body === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(call.body) }),
      },
    });
    const settle = (answer: HttpAnswer) => {
      cancelLimit();
      outgoing.destroy();
      resolve(answer);
    };
    const fail = (failure: CallFailure) => settle({ ok: false, failure });
    const cancelLimit = clock.timer(CALL_LIMIT_MS, () => {
      const message = `no answer within ${CALL_LIMIT_MS / 1000} s`;
      fail(sent ? { kind: "timeout", message } : { kind: "unreachable", message: "no connection in time" });
    });

    // Errors may come after the first one, and after everything is settled.
    outgoing.on("error", (error) => fail(failureOfError(error, sent)));
    outgoing.on("socket", (socket) => {
      socket.once(call.url.protocol === "https:" ? "secureConnect" : "connect", () => {
        sent = true;
      });
    });
    outgoing.on("response", (incoming) => {
      collect(incoming, (body) => {
        if (typeof body !== "string") fail(body);
        else settle({ ok: true, response: toResponse(incoming, body) });
      });
    });
    outgoing.end(call.body);
  });
}

function collect(incoming: IncomingMessage, done: (body: string | CallFailure) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) done({ kind: "invalid", message: "the answer is larger than 1 MiB" });
    else chunks.push(chunk);
  });
  incoming.on("end", () => done(Buffer.concat(chunks).toString("utf8")));
  incoming.on("error", (error) => done(failureOfError(error, true)));
}

function toResponse(incoming: IncomingMessage, body: string): Response {
  return {
    status: incoming.statusCode ?? 0,
    body: parseBody(body),
    retryAfter: incoming.headers["retry-after"],
  };
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
