import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { find, type RealServer } from "./server.ts";

/** Takes mail and throws it away. */
export const aiosmtpd: RealServer = {
  name: "aiosmtpd",
  server: "aiosmtpd",
  client: "curl",
  packages: ["python3-aiosmtpd", "curl"],
  programs: ["aiosmtpd", "curl"],
  ports: [{ target: 2525, readiness: "smtp" }],
  spec: ({ address, scratch }) => ({
    command: [
      find("aiosmtpd") ?? "aiosmtpd",
      ...["--nosetuid", "--class", "aiosmtpd.handlers.Sink", "--listen", `${address}:2525`],
    ],
    cwd: scratch,
  }),
  connections: 1,
  work: async ({ host, ports: [port], scratch }, run) => {
    const mail = join(scratch, "mail");
    await writeFile(mail, "Subject: who\r\n\r\ncurl\r\n");
    const envelope = ["--mail-from", "a@example.com", "--mail-rcpt", "b@example.com", "--upload-file", mail];
    await run("curl", ["-sS", "--max-time", "25", `smtp://${host}:${port}`, ...envelope]);
  },
};
