import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { normaliseAddress } from "../net/address";
import { listen } from "../net/listen";

/** Probes, a person's look, a drain: never many. */
const MAX_CONNECTIONS = 64;
const REQUEST_LIMIT_MS = 5_000;

export interface HealthDeps {
  host: string;
  port: number;
  /** What `/healthz` answers. */
  health: () => object;
  ready: () => boolean;
  /** Begins a drain; resolves when it is over. */
  drain: () => Promise<void>;
}

/** `/healthz`, `/readyz` and `/drain`. Nothing that the platform's API does makes any of them fail. */
export async function openHealthServer(deps: HealthDeps): Promise<Server> {
  const server = createServer((request, response) => void answer(deps, request, response));
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = REQUEST_LIMIT_MS;
  server.requestTimeout = REQUEST_LIMIT_MS;
  server.keepAliveTimeout = REQUEST_LIMIT_MS;
  await listen(server, deps.host, deps.port);
  // Such as no descriptors left: the port stays open.
  server.on("error", () => {});
  return server;
}

async function answer(deps: HealthDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on("error", () => {});
  request.resume();
  const { status, body } = await replyTo(deps, request).catch((error: unknown) => ({
    status: 500,
    body: { message: String(error) },
  }));
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(`${JSON.stringify(body)}\n`);
}

async function replyTo(
  deps: HealthDeps,
  request: IncomingMessage,
): Promise<{ status: number; body: object }> {
  const path = request.url?.split("?")[0];
  const reading = request.method === "GET" || request.method === "HEAD";
  if (path === "/healthz" && reading) return { status: 200, body: deps.health() };
  if (path === "/readyz" && reading) {
    const ready = deps.ready();
    return { status: ready ? 200 : 503, body: { ready } };
  }
  if (path === "/drain" && request.method === "POST") {
    if (!isOwn(request)) return { status: 403, body: { message: "only from inside the replica" } };
    await deps.drain();
    return { status: 200, body: { drained: true } };
  }
  return { status: 404, body: { message: "no such path" } };
}

/**
 * Whether a request comes from this replica itself. Not the whole of 127.0.0.0/8: the mesh's sidecar hands in foreign
 * requests from 127.0.0.6.
 */
function isOwn({ socket }: IncomingMessage): boolean {
  const remote = normaliseAddress(socket.remoteAddress);
  return remote === "127.0.0.1" || remote === "::1" || remote === normaliseAddress(socket.localAddress);
}
