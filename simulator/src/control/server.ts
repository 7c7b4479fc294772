/**
 * The control endpoint: a server of its own, so that it still answers while the API is down. It has no tokens; it
 * listens on loopback only, and refuses what a web page might send (a browser adds `Origin`).
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject } from "../documents/json.ts";
import { type AnySimulator, type Command, commands, type Input } from "./commands.ts";
import { Refusal } from "./input.ts";

export interface ControlServer extends AsyncDisposable {
  readonly url: string;
  dispose(): Promise<void>;
}

export async function startControl(
  simulator: AnySimulator,
  options: { port?: number } = {},
): Promise<ControlServer> {
  const server = createServer((incoming, response) => void serve(simulator, incoming, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const dispose = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, dispose, [Symbol.asyncDispose]: dispose };
}

async function serve(
  simulator: AnySimulator,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.on("error", () => {});
  const url = new URL(incoming.url ?? "/", "http://localhost");
  try {
    if (incoming.headers.origin !== undefined) throw new Refusal("not for web pages");
    if (url.pathname === "/") return answer(response, 200, help());
    const found = find(incoming.method ?? "GET", url.pathname);
    if (!found) return answer(response, 404, `There is no ${incoming.method} ${url.pathname}.\n\n${help()}`);
    const body = await readBody(incoming);
    const input: Input = { params: found.params, query: Object.fromEntries(url.searchParams), body };
    const result = (await found.command.run(simulator, input)) ?? { done: true };
    answer(response, 200, `${JSON.stringify(result, null, 2)}\n`, "application/json");
  } catch (error) {
    const status = error instanceof Refusal ? 400 : 500;
    answer(response, status, `${error instanceof Error ? error.message : String(error)}\n`);
  }
}

function answer(response: ServerResponse, status: number, text: string, type = "text/plain"): void {
  response.writeHead(status, { "content-type": `${type}; charset=utf-8` });
  response.end(text);
}

function find(method: string, path: string): { command: Command; params: Input["params"] } | undefined {
  const steps = path.split("/");
  for (const command of commands) {
    const pattern = command.path.split("/");
    if (command.method !== method || pattern.length !== steps.length) continue;
    const pairs = pattern.map((step, index) => [step, steps[index] ?? ""] as const);
    if (!pairs.every(([step, given]) => step.startsWith(":") || step === given)) continue;
    const named = pairs.filter(([step]) => step.startsWith(":"));
    return { command, params: Object.fromEntries(named.map(([step, given]) => [step.slice(1), given])) };
  }
  return undefined;
}

async function readBody(incoming: IncomingMessage): Promise<Input["body"]> {
  let text = "";
  incoming.setEncoding("utf8");
  for await (const chunk of incoming) text += chunk;
  if (text.trim() === "") return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new Refusal(`the body is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(body)) throw new Refusal("the body must be an object");
  return body;
}

/** The list of commands, as plain text. */
export function help(): string {
  const lines = commands.map(({ method, path, help: text }) => {
    const [first = "", ...more] = text.split("\n");
    const indent = " ".repeat(41);
    return [`${method.padEnd(7)} ${path.padEnd(32)} ${first}`, ...more.map((line) => indent + line)].join(
      "\n",
    );
  });
  return `The control endpoint of the local Control Plane\n\n${lines.join("\n")}\n`;
}
