import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "../model.ts";
import { errorBody } from "./errors.ts";
import type { Answer, Request } from "./exchange.ts";
import { type PipelineParts, type Reply, record, runCall } from "./pipeline.ts";

/** The API being away: no listener, a reset, silence, or a status for everything. */
export type Outage = "refuse" | "reset" | "silent" | number;

const bodyLimit = 8 * 1024 * 1024;

export class ApiServer {
  readonly #parts: PipelineParts;
  readonly #host: string;
  readonly #server: Server;
  #port: number;
  #outage: Outage | undefined;
  /** Callers kept waiting by a silent outage. */
  readonly #silent = new Set<ServerResponse>();

  constructor(parts: PipelineParts, options: { host: string; port: number }) {
    this.#parts = parts;
    this.#host = options.host;
    this.#port = options.port;
    this.#server = createServer((incoming, response) => void this.#serve(incoming, response));
  }

  get url(): string {
    return `http://${this.#host}:${this.#port}`;
  }

  get outage(): Outage | undefined {
    return this.#outage;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#port, this.#host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Goes away until `up()`. What was under way loses its connection when the listener goes, but is applied. */
  async down(outage: Outage = "refuse"): Promise<void> {
    await this.up();
    this.#outage = outage;
    if (outage === "refuse") await this.#close();
  }

  async up(): Promise<void> {
    const before = this.#outage;
    this.#outage = undefined;
    this.#dropSilent();
    if (before === "refuse") await this.listen();
  }

  async dispose(): Promise<void> {
    this.#dropSilent();
    if (this.#server.listening) await this.#close();
  }

  #dropSilent(): void {
    for (const response of this.#silent) response.socket?.destroy();
    this.#silent.clear();
  }

  async #close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    // A caller may leave at any time; that is its right, and no error of this server's.
    incoming.on("error", () => {});
    response.on("error", () => {});
    const request = await readRequest(incoming);
    if (!request) return;
    const reply = replyTo(response);
    const userAgent = incoming.headers["user-agent"];
    if (this.#outage === undefined) await runCall(request, userAgent, reply, this.#parts);
    else await this.#miss(request, userAgent, reply, response, this.#outage);
  }

  /** A call to an API that is away: recorded, and nothing else. */
  async #miss(
    request: Request,
    userAgent: string | undefined,
    reply: Reply,
    response: ServerResponse,
    outage: Outage,
  ): Promise<void> {
    const { recorder } = this.#parts;
    const call = record(request, userAgent, this.#parts);
    if (typeof outage === "number") {
      call.status = outage;
      call.outcome = await reply.answer({ status: outage, body: errorBody(outage, "The API is down") });
    } else if (outage === "silent") {
      this.#silent.add(response);
      await new Promise((resolve) => response.once("close", resolve));
      this.#silent.delete(response);
      call.outcome = "gone";
    } else {
      reply.reset();
      call.outcome = "reset";
    }
    recorder.tell(call);
  }
}

function replyTo(response: ServerResponse): Reply {
  return {
    answer: (answer) => send(response, answer),
    reset: () => void response.socket?.resetAndDestroy(),
  };
}

function send(response: ServerResponse, answer: Answer): Promise<"answered" | "gone"> {
  if (response.destroyed || response.socket?.destroyed !== false) return Promise.resolve("gone");
  const text = answer.body === undefined ? "" : JSON.stringify(answer.body);
  const type = answer.body === undefined ? {} : { "content-type": "application/json; charset=utf-8" };
  response.writeHead(answer.status, {
    ...type,
    "content-length": Buffer.byteLength(text),
    ...answer.headers,
  });
  return new Promise((resolve) => {
    response.once("close", () => resolve(response.writableFinished ? "answered" : "gone"));
    response.end(text, () => resolve("answered"));
  });
}

/** The whole request, or undefined when its sender left half-way. */
async function readRequest(incoming: IncomingMessage): Promise<Request | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming) {
      size += (chunk as Buffer).length;
      if (size <= bodyLimit) chunks.push(chunk as Buffer);
    }
  } catch {
    return undefined;
  }
  const url = new URL(incoming.url ?? "/", "http://localhost");
  return {
    method: incoming.method ?? "GET",
    path: decode(url.pathname),
    query: Object.fromEntries(url.searchParams),
    authorization: incoming.headers.authorization,
    remoteAddress: incoming.socket.remoteAddress ?? "",
    ...parseBody(Buffer.concat(chunks).toString("utf8"), size),
  };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function parseBody(text: string, size: number): Pick<Request, "body" | "unreadable"> {
  if (size > bodyLimit) return { body: undefined, unreadable: `longer than ${bodyLimit} bytes` };
  if (text === "") return { body: undefined, unreadable: undefined };
  try {
    return { body: JSON.parse(text) as Json, unreadable: undefined };
  } catch (error) {
    return { body: undefined, unreadable: (error as Error).message };
  }
}
