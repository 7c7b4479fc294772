import { spawn, spawnSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import ssh2 from "ssh2";

export interface SftpEndpoint {
  host: string;
  port: number;
  user: string;
}

export interface SftpClient {
  /** In words, for the output. */
  description: string;
  /** The key to let in, as one line. */
  publicKey: string;
  /** Uploads a file and brings it back under another name, in one session. */
  roundTrip(endpoint: SftpEndpoint, files: { local: string; remote: string; back: string }): Promise<void>;
}

/** The machine's OpenSSH client where there is one, else one from npm. Keys live in `dir`. */
export async function sftpClient(dir: string): Promise<SftpClient> {
  const { private: privateKey, public: publicKey } = ssh2.utils.generateKeyPairSync("ed25519");
  const key = join(dir, "id_ed25519");
  await writeFile(key, privateKey);
  await chmod(key, 0o600);
  const version = spawnSync("sftp", ["-V"], { encoding: "utf8" });
  if (version.error) {
    if (process.env.REQUIRE_REAL_PEERS === "1")
      throw new Error("OpenSSH's sftp is required and not installed");
    return {
      description: "ssh2 from npm, since no sftp is installed",
      publicKey,
      roundTrip: npmRoundTrip(privateKey),
    };
  }
  return { description: "the machine's OpenSSH sftp", publicKey, roundTrip: openSshRoundTrip(dir, key) };
}

function openSshRoundTrip(dir: string, key: string): SftpClient["roundTrip"] {
  return async ({ host, port, user }, { local, remote, back }) => {
    const batch = join(dir, "batch");
    await writeFile(batch, `put ${local} ${remote}\nget ${remote} ${back}\nrm ${remote}\n`);
    const options = [
      "BatchMode=yes",
      "IdentitiesOnly=yes",
      "StrictHostKeyChecking=accept-new",
      `UserKnownHostsFile=${join(dir, "known_hosts")}`,
      "ConnectTimeout=60",
    ];
    const args = ["-q", "-F", "none", "-b", batch, "-P", String(port), "-i", key];
    await run("sftp", [...args, ...options.flatMap((option) => ["-o", option]), `${user}@${host}`]);
  };
}

function run(command: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with ${code}: ${stderr.trim()}`));
    });
  });
}

function npmRoundTrip(privateKey: string): SftpClient["roundTrip"] {
  return ({ host, port, user }, { local, remote, back }) =>
    new Promise((resolve, reject) => {
      const client = new ssh2.Client();
      client.once("error", reject);
      client.once("ready", () => {
        // Small writes that wait for answers crawl without this.
        client.setNoDelay(true);
        client.sftp((error, sftp) => {
          if (error) return reject(error);
          const step = (next: () => void) => (failure?: Error | null) => (failure ? reject(failure) : next());
          const end = () => {
            client.once("close", () => resolve());
            client.end();
          };
          const remove = step(() => sftp.unlink(remote, step(end)));
          sftp.fastPut(
            local,
            remote,
            step(() => sftp.fastGet(remote, back, remove)),
          );
        });
      });
      client.connect({ host, port, username: user, privateKey, readyTimeout: 60_000 });
    });
}
