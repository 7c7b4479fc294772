import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import ssh2 from "ssh2";
import type { SftpEndpoint } from "../../../tools/demo/sftp-client.ts";

/** An SSH session whose remote command says back what it is told. */
export interface EchoSession {
  /** Says something and settles with what comes back; rejects where the session is over. */
  echo(text: string): Promise<string>;
  /** Settles when the session is over. */
  readonly over: Promise<unknown>;
  end(): Promise<void>;
}

/** By the machine's OpenSSH client where there is one, else by one from npm. The key is `sftpClient`'s. */
export async function openEchoSession(dir: string, endpoint: SftpEndpoint): Promise<EchoSession> {
  const child = openSsh(dir, endpoint);
  try {
    await once(child, "spawn");
  } catch (error) {
    if (process.env.REQUIRE_REAL_PEERS === "1") throw error;
    return npmSession(dir, endpoint);
  }
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("ssh has no pipes");
  const over = once(child, "close");
  return session(stdin, stdout, over, () => stdin.end());
}

function openSsh(dir: string, { host, port, user }: SftpEndpoint): ChildProcess {
  const options = [
    "BatchMode=yes",
    "IdentitiesOnly=yes",
    "StrictHostKeyChecking=accept-new",
    `UserKnownHostsFile=${join(dir, "known_hosts")}`,
    "ConnectTimeout=60",
  ].flatMap((option) => ["-o", option]);
  const args = ["-q", "-T", "-F", "none", "-p", String(port), "-i", join(dir, "id_ed25519"), ...options];
  return spawn("ssh", [...args, `${user}@${host}`, "cat"], { stdio: ["pipe", "pipe", "ignore"] });
}

async function npmSession(dir: string, { host, port, user }: SftpEndpoint): Promise<EchoSession> {
  const client = new ssh2.Client();
  const privateKey = await readFile(join(dir, "id_ed25519"));
  client.connect({ host, port, username: user, privateKey, readyTimeout: 60_000 });
  await once(client, "ready");
  client.on("error", () => {});
  const over = once(client, "close");
  const channel = await new Promise<Duplex>((resolve, reject) => {
    client.exec("cat", (error, stream) => (error ? reject(error) : resolve(stream)));
  });
  return session(channel, channel, over, () => client.end());
}

function session(
  input: NodeJS.WritableStream,
  output: NodeJS.ReadableStream,
  over: Promise<unknown>,
  end: () => void,
): EchoSession {
  let received = "";
  let wake = () => {};
  let ended = false;
  output.on("data", (chunk: Buffer) => {
    received += chunk.toString();
    wake();
  });
  input.on("error", () => {});
  void over.then(() => {
    ended = true;
    wake();
  });
  return {
    over,
    echo: async (text) => {
      input.write(text);
      while (received.length < text.length) {
        if (ended) throw new Error(`the session is over; it had said ${JSON.stringify(received)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const said = received.slice(0, text.length);
      received = received.slice(text.length);
      return said;
    },
    end: async () => {
      end();
      await over;
    },
  };
}
