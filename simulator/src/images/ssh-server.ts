/**
 * `ssh-server.ts HOST_KEY ROOT PORT…`: SSH and SFTP for demonstrations, on the replica's own address. With
 * `PUBLIC_KEY` only that key gets in, else anybody. Commands run in a plain shell among the served files.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import net from "node:net";
import ssh2, { type AuthContext, type Connection, type ServerChannel } from "ssh2";
import { serveSftp } from "./ssh-sftp.ts";

const [hostKeyPath = "", root = ".", ...ports] = process.argv.slice(2);
const host = process.env.LISTEN_HOST ?? "127.0.0.1";
const allowed = allowedKey(process.env.PUBLIC_KEY);

function allowedKey(line: string | undefined) {
  if (line === undefined) return undefined;
  const parsed = ssh2.utils.parseKey(line);
  if (parsed instanceof Error) throw parsed;
  return Array.isArray(parsed) ? parsed[0] : parsed;
}

function authenticate(context: AuthContext): void {
  if (allowed === undefined) {
    context.accept();
    return;
  }
  if (context.method !== "publickey") {
    context.reject(["publickey"]);
    return;
  }
  const sameKey = allowed.getPublicSSH().equals(context.key.data);
  const signed =
    context.signature === undefined ||
    (context.blob !== undefined &&
      allowed.verify(context.blob, context.signature, context.hashAlgo) === true);
  if (sameKey && signed) context.accept();
  else context.reject(["publickey"]);
}

function serve(client: Connection): void {
  client.on("error", () => {});
  client.on("authentication", authenticate);
  client.on("session", (accept) => {
    const session = accept();
    session.on("pty", (accepted) => accepted?.());
    session.on("env", (accepted) => accepted?.());
    session.on("sftp", (accepted) => serveSftp(accepted(), root));
    session.on("exec", (accepted, _reject, info) => run(accepted(), ["sh", "-c", info.command]));
    session.on("shell", (accepted) => run(accepted(), ["sh"]));
  });
}

function run(channel: ServerChannel, [program = "sh", ...args]: string[]): void {
  const child = spawn(program, args, { cwd: root, stdio: "pipe" });
  channel.on("error", () => {});
  child.stdin.on("error", () => {});
  channel.pipe(child.stdin);
  child.stdout.pipe(channel, { end: false });
  child.stderr.pipe(channel.stderr, { end: false });
  child.on("close", (code) => {
    channel.exit(code ?? 1);
    channel.end();
  });
  channel.on("close", () => child.kill("SIGKILL"));
}

const ssh = new ssh2.Server({ hostKeys: [readFileSync(hostKeyPath)], ident: "local" }, serve);
for (const port of ports.map(Number)) {
  // Accepted here, so that small packets are not kept waiting for each other.
  const server = net.createServer({ noDelay: true }, (socket) => ssh.injectSocket(socket));
  server.listen(port, host, () => console.log(`listening on ${host}:${port}`));
  process.on("SIGTERM", () => server.close());
}
