import { connect } from "node:net";

/**
 * The preStop hook: asks the running proxy to drain and returns when it has. It runs beside a proxy that may be full of
 * sessions, in the same memory limit, so it loads nothing but sockets. Whatever happens the exit code is 0: a failing
 * hook makes the platform kill every container at once.
 */
export function prestop(env: NodeJS.ProcessEnv): Promise<void> {
  const port = Number(env.HEALTH_PORT?.trim() || 8081);
  const host = hookHost(env.LISTEN_HOST?.trim() ?? "");
  return new Promise((resolve) => {
    let answered = false;
    const end = (problem?: string) => {
      if (problem !== undefined && !answered) process.stderr.write(`prestop: ${problem}\n`);
      answered = true;
      socket.destroy();
      resolve();
    };
    // From the address it goes to: that is how the proxy knows its own.
    const socket = connect({ host, port, localAddress: host });
    socket.on("connect", () => {
      socket.write(`POST /drain HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    });
    socket.on("data", (data) => {
      const status = /^HTTP\/1\.1 (\d+)/.exec(data.toString("latin1"))?.[1];
      end(status === "200" ? undefined : `the proxy answered ${status ?? "something else than HTTP"}`);
    });
    socket.on("error", (error) => end(error.message));
    socket.on("close", () => end(answered ? undefined : "the proxy ended"));
  });
}

/** Where the proxy listens on every address, it listens on loopback. */
export function hookHost(listenHost: string): string {
  if (listenHost === "" || listenHost === "::" || listenHost === "0.0.0.0") return "127.0.0.1";
  return listenHost;
}
