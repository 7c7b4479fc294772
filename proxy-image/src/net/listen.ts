import type { Server } from "node:net";

const EVERY_ADDRESS = "::";

/**
 * Resolves when the port is listened on. Every address is what Node takes where none is named: IPv6, or IPv4 on a
 * machine without it. A named one is looked up, even if it is a number, and loading the resolver is a tenth of what a
 * start costs.
 */
export function listen(server: Server, host: string, port: number, backlog?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      server.off("error", settle);
      server.off("listening", settle);
      if (error) reject(error);
      else resolve();
    };
    server.on("error", settle);
    server.on("listening", settle);
    server.listen({
      port,
      ...(host === EVERY_ADDRESS ? {} : { host }),
      ...(backlog === undefined ? {} : { backlog }),
    });
  });
}
