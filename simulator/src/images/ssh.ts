import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ContainerContext, type Image, matchesName } from "./catalogue.ts";
import { type ProcessSpec, pinnedNode, processImage } from "./process-image.ts";

export interface SshImageOptions {
  /** Where the machine's own server is; `false`: never use it. */
  sshd?: string | false;
}

const names = ["sshd", "openssh", "openssh-server", "sftp", "sftpgo"].map(matchesName);
const ownServer = fileURLToPath(new URL("./ssh-server.ts", import.meta.url));

/**
 * An SSH and SFTP server without passwords. Files live in its first mounted volume. With `PUBLIC_KEY` in its
 * environment only that key gets in, and the machine's own `sshd` serves where there is a usable one; it knows no
 * users but the machine's, so `USER_NAME` has to be the one that runs it. Else a small server of the simulator's own
 * serves; without a key it lets anybody in.
 */
export function sshImage(options: SshImageOptions = {}): Image {
  const sshd = options.sshd ?? "/usr/sbin/sshd";
  // One host key for the image's life: clients remember it over suspends.
  const { privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { type: "sec1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const installed = sshd !== false && existsSync(sshd);
  return processImage({
    description: installed
      ? "an SSH and SFTP server: the machine's own sshd, or a small one where that cannot run"
      : "an SSH and SFTP server: a small one, since no sshd is installed",
    matches: (image) => names.some((matches) => matches(image)),
    bootMs: 1_000,
    spec: async (context) => {
      const hostKey = join(context.scratch, "host_key");
      const root = Object.values(context.volumes)[0] ?? join(context.scratch, "files");
      await mkdir(root, { recursive: true });
      await writeFile(hostKey, privateKey, { mode: 0o600 });
      const real = installed ? await sshdSpec(sshd, hostKey, root, context) : undefined;
      return real ?? ownSpec(hostKey, root, context);
    },
  });
}

function ownSpec(hostKey: string, root: string, context: ContainerContext): ProcessSpec {
  return {
    command: [pinnedNode(), ownServer, hostKey, root, ...context.ports.map(String)],
    cwd: root,
    env: { HOME: root },
  };
}

/** `undefined` where it would not start: no key to let in, or a machine that lacks what it wants. */
async function sshdSpec(
  sshd: string,
  hostKey: string,
  root: string,
  context: ContainerContext,
): Promise<ProcessSpec | undefined> {
  const { PUBLIC_KEY: publicKey, USER_NAME: user } = context.env;
  if (!publicKey) return undefined;
  const { username, uid } = userInfo();
  if (user !== undefined && user !== username) {
    context.log(
      "stderr",
      `the machine's sshd can only serve ${username} here, not ${user}; a small one serves`,
    );
    return undefined;
  }
  // Where no service manager has started it yet, root's sshd lacks the empty folder that it confines itself to.
  if (uid === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const keys = join(context.scratch, "authorized_keys");
  const config = join(context.scratch, "sshd_config");
  await writeFile(keys, `${publicKey}\n`, { mode: 0o600 });
  const lines = [
    ...context.ports.map((port) => `Port ${port}`),
    `ListenAddress ${context.address}`,
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${keys}`,
    "PidFile none",
    // The folders above are temporary ones, which strict modes would not like.
    "StrictModes no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    `Subsystem sftp internal-sftp -d ${root}`,
  ];
  await writeFile(config, `${lines.join("\n")}\n`);
  const test = spawnSync(sshd, ["-t", "-f", config], { encoding: "utf8" });
  if (test.status !== 0) {
    context.log("stderr", `the machine's sshd cannot run here (${test.stderr.trim()}); a small one serves`);
    return undefined;
  }
  return { command: [sshd, "-D", "-e", "-f", config], cwd: root };
}
