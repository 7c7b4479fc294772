import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface StubCall {
  method: string;
  path: string;
  authorization: string | undefined;
  body: string;
}

export type StubAnswer = (call: StubCall, response: ServerResponse, request: IncomingMessage) => void;

/** Answers JSON with this status. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): StubAnswer =>
  (_call, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };

/** Never answers. */
export const nothing: StubAnswer = () => {};

export const workloadDocument = ({ suspend = false, version = 1 } = {}) => ({
  id: "11111111-1111-4111-8111-111111111111",
  name: "sftp",
  kind: "workload",
  version,
  spec: { defaultOptions: { suspend } },
});

/** A stand-in for the platform's API whose every answer a test decides. */
export class StubApi {
  readonly url: string;
  readonly calls: StubCall[] = [];
  answer: StubAnswer;
  readonly #server: Server;
  #wake: (() => void)[] = [];

  private constructor(server: Server, answer: StubAnswer) {
    this.#server = server;
    this.answer = answer;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("error", () => {});
      request.on("end", () => {
        const call: StubCall = {
          method: request.method ?? "",
          path: request.url ?? "",
          authorization: request.headers.authorization,
          body: Buffer.concat(chunks).toString(),
        };
        this.calls.push(call);
        this.answer(call, response, request);
        for (const wake of this.#wake.splice(0)) wake();
      });
    });
  }

  static async start(answer: StubAnswer = json(200, workloadDocument())): Promise<StubApi> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new StubApi(server, answer);
  }

  /** Resolves once there have been `count` calls. */
  async called(count: number): Promise<void> {
    while (this.calls.length < count) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
