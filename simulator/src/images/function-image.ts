import net from "node:net";
import { deferred } from "../platform/deferred.ts";
import {
  type ContainerContext,
  type ContainerExit,
  type Image,
  matchesName,
  type RunningContainer,
} from "./catalogue.ts";

/** A container that is a function in this process: quick to start, for tests. */
export interface FunctionContainer extends ContainerContext {
  /** Listens on the replica's address. Its sockets end with the container, at once. */
  listen(port: number, onConnection: (socket: net.Socket) => void): Promise<net.Server>;
  /** Stop signals are ignored unless something asks for them, so that an old replica answers to its grace's end. */
  onSignal(handler: (signal: "SIGTERM" | "SIGINT") => void): void;
  /** Answers preStop, postStart and exec probes; without it every command exits with 0 at once. */
  onExec(handler: (command: string[]) => number | Promise<number>): void;
  /** The container ends by itself. */
  exit(exitCode: number): void;
  /** Aborted when the container ends, however it ends. */
  ended: AbortSignal;
}

export interface FunctionImageOptions {
  name?: string;
  matches?: (image: string) => boolean;
  description?: string;
  bootMs?: number;
  hasShell?: boolean;
  run(container: FunctionContainer): void | Promise<void>;
}

export function functionImage(options: FunctionImageOptions): Image {
  return {
    description:
      options.description ?? `a function in the simulator's process (${options.name ?? "unnamed"})`,
    matches: options.matches ?? matchesName(options.name ?? "function"),
    hasShell: options.hasShell ?? true,
    ...(options.bootMs === undefined ? {} : { bootMs: options.bootMs }),
    start: (context) => startFunction(context, options.run),
  };
}

async function startFunction(
  context: ContainerContext,
  run: FunctionImageOptions["run"],
): Promise<RunningContainer> {
  const servers = new Set<net.Server>();
  const sockets = new Set<net.Socket>();
  const ended = new AbortController();
  const exited = deferred<ContainerExit>();
  const signals: ((signal: "SIGTERM" | "SIGINT") => void)[] = [];
  let onExec: ((command: string[]) => number | Promise<number>) | undefined;
  let closing: Promise<void> | undefined;

  const end = (exit: ContainerExit): Promise<void> => {
    closing ??= (async () => {
      ended.abort();
      const closed = [...servers].map((server) => new Promise((resolve) => server.close(resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
      exited.resolve(exit);
    })();
    return closing;
  };

  const container: FunctionContainer = {
    ...context,
    ended: ended.signal,
    listen: async (port, onConnection) => {
      const server = net.createServer({ allowHalfOpen: true }, (socket) => {
        sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => sockets.delete(socket));
        onConnection(socket);
      });
      servers.add(server);
      const listening = deferred<void>();
      server.once("error", listening.reject);
      server.listen(port, context.address, listening.resolve);
      await listening.promise;
      return server;
    },
    onSignal: (handler) => signals.push(handler),
    onExec: (handler) => {
      onExec = handler;
    },
    exit: (exitCode) => void end({ exitCode, reason: exitCode === 0 ? "Completed" : "Error" }),
  };

  try {
    await run(container);
  } catch (error) {
    context.log("stderr", String(error));
    await end({ exitCode: 1, reason: "Error" });
  }
  return {
    exited: exited.promise,
    exec: (command) => ({
      exitCode: Promise.resolve(onExec?.(command) ?? 0).catch(() => 1),
      kill: () => {},
    }),
    signal: (name) => {
      for (const handler of signals) handler(name);
    },
    kill: (reason = "Error") => end({ exitCode: 137, reason }),
  };
}

/** A server that says a banner and then echoes: the smallest thing that a proxy can wake. */
export function bannerEcho(banner: string): (container: FunctionContainer) => Promise<void> {
  return async (container) => {
    for (const port of container.ports) {
      await container.listen(port, (socket) => {
        socket.write(banner);
        socket.pipe(socket);
      });
    }
  };
}
