import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sshImage } from "../../../simulator/src/images/index.ts";
import { expectText, type RealServer, run } from "./server.ts";

const quiet = ["StrictHostKeyChecking=accept-new", "LogLevel=ERROR", "BatchMode=yes"];

const PARAMIKO = `
import sys, paramiko
host, port, key = sys.argv[1:]
client = paramiko.SSHClient()
client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
client.connect(host, int(port), "root", pkey=paramiko.ECDSAKey.from_private_key_file(key),
               allow_agent=False, look_for_keys=False, banner_timeout=25)
print(client.exec_command("echo paramiko")[1].read().decode())
client.close()
`;

/** The simulator's own image of it, which runs the machine's sshd where it is given a key. */
export const openssh: RealServer & { image: () => ReturnType<typeof sshImage> } = {
  name: "openssh",
  server: "OpenSSH",
  client: "ssh, PuTTY's plink and paramiko",
  packages: ["openssh-server", "openssh-client", "putty-tools", "python3-paramiko"],
  programs: ["sshd", "ssh", "ssh-keygen", "plink", "puttygen", "python3"],
  ports: [{ target: 2022, readiness: "ssh", wakeOn: "fitting" }],
  image: () => ({ ...sshImage(), bootMs: 0 }),
  spec: () => ({ command: ["false"] }),
  env: async (scratch) => {
    const key = join(scratch, "id");
    await run("ssh-keygen", ["-q", "-t", "ecdsa", "-N", "", "-m", "PEM", "-f", key]);
    await run("puttygen", [key, "-o", `${key}.ppk`, "-O", "private"]);
    return { PUBLIC_KEY: (await readFile(`${key}.pub`, "utf8")).trim() };
  },
  connections: 3,
  work: async ({ host, ports: [port], scratch }, run) => {
    const [key, hosts] = [join(scratch, "id"), join(scratch, "known_hosts")];
    const options = [...quiet, `UserKnownHostsFile=${hosts}`].flatMap((option) => ["-o", option]);
    const to = ["-i", key, "-p", String(port), `root@${host}`];
    expectText(await run("ssh", [...options, ...to, "echo ssh"]), "ssh");
    expectText(await run("python3", ["-c", PARAMIKO, host, String(port), key]), "paramiko");
    const [, fingerprint = ""] = (await run("ssh-keygen", ["-l", "-E", "sha256", "-f", hosts])).split(" ");
    const plink = ["-batch", "-ssh", "-hostkey", fingerprint, "-i", `${key}.ppk`, "-P", String(port)];
    expectText(await run("plink", [...plink, `root@${host}`, "echo plink"]), "plink");
  },
};
