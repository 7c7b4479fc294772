import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expectText, find, type RealServer, run } from "./server.ts";

/** HTTP on one port, HTTPS on the other. */
export const nginx: RealServer = {
  name: "nginx",
  server: "nginx, HTTP and HTTPS",
  client: "curl",
  packages: ["nginx-light", "openssl", "curl"],
  programs: ["nginx", "openssl", "curl"],
  ports: [
    { target: 8080, readiness: { kind: "http", path: "/who" }, wakeOn: "fitting" },
    { target: 8443, readiness: { kind: "tls", serverName: "shop.example.com" }, wakeOn: "fitting" },
  ],
  spec: async ({ address, scratch }) => {
    const [key, cert] = [join(scratch, "key.pem"), join(scratch, "cert.pem")];
    await run("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
      ...["-subj", "/CN=shop.example.com", "-keyout", key, "-out", cert],
    ]);
    await mkdir(join(scratch, "temp"), { recursive: true });
    const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((kind) => `${kind}_temp_path ${join(scratch, "temp", kind)};`)
      .join(" ");
    const config = join(scratch, "nginx.conf");
    await writeFile(
      config,
      `daemon off; pid ${join(scratch, "pid")}; error_log stderr;
      events {}
      http { access_log off; ${temp}
        server { listen ${address}:8080; location /who { return 200 "nginx"; } }
        server { listen ${address}:8443 ssl; ssl_certificate ${cert}; ssl_certificate_key ${key};
          location /who { return 200 "nginx over TLS"; } } }`,
    );
    return { command: [find("nginx") ?? "nginx", "-e", "stderr", "-p", scratch, "-c", config], cwd: scratch };
  },
  connections: 2,
  work: async ({ host, ports: [http, https] }, run) => {
    expectText(await run("curl", ["-sS", "--max-time", "20", `http://${host}:${http}/who`]), "nginx");
    const tls = ["-sSk", "--max-time", "20", "--connect-to", `::${host}:${https}`];
    expectText(await run("curl", [...tls, "https://shop.example.com/who"]), "nginx over TLS");
  },
};
