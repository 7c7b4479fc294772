import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectText, find, type RealServer, shortFolder } from "./server.ts";

/**
 * FTP with one passive port, which is mapped like any other. A probe there would take the place of the client that the
 * server waits for, so the platform's word opens it.
 */
export const vsftpd: RealServer = {
  name: "vsftpd",
  server: "vsftpd, passive",
  client: "curl",
  packages: ["vsftpd", "curl"],
  programs: ["vsftpd", "curl"],
  ports: [
    { target: 2121, readiness: "ftp" },
    { target: 30_021, readiness: "platform" },
  ],
  spec: async ({ address, env, scratch }) => {
    const root = await shortFolder();
    await chmod(root, 0o755);
    await mkdir(join(root, "empty"));
    await writeFile(join(root, "who"), "vsftpd");
    const config = join(scratch, "vsftpd.conf");
    const settings = {
      ...{ listen: "YES", listen_address: address, listen_port: 2121, background: "NO" },
      ...{ anonymous_enable: "YES", no_anon_password: "YES", anon_root: root, local_enable: "NO" },
      ...{ pasv_min_port: env.PASSIVE, pasv_max_port: env.PASSIVE, pasv_promiscuous: "YES" },
      ...{ secure_chroot_dir: join(root, "empty"), seccomp_sandbox: "NO", run_as_launching_user: "NO" },
      isolate: "NO",
      isolate_network: "NO",
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(config, lines.join(""));
    return { command: [find("vsftpd") ?? "vsftpd", config], cwd: scratch };
  },
  connections: 2,
  work: async ({ host, ports: [port] }, run) => {
    const url = `ftp://${host}:${port}/who`;
    expectText(await run("curl", ["-sS", "--max-time", "25", "--disable-epsv", url]), "vsftpd");
  },
};
