import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import {
  expectText,
  find,
  give,
  type RealServer,
  run,
  shortFolder,
  template,
  unprivileged,
} from "./server.ts";

const copyData = template(async (folder) => {
  const parent = join(folder, "..");
  await give("postgres", parent);
  const [program = "", ...args] = unprivileged("postgres", [
    find("initdb") ?? "initdb",
    ...["-D", folder, "-U", "postgres", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8"],
  ]);
  await run(program, args);
  // The sidecar's address is one of these.
  await appendFile(join(folder, "pg_hba.conf"), "host all all 127.0.0.0/8 trust\n");
});

/** Settings of a test's own come as `PGEXTRA`: `hot_standby=off`. */
export const postgres: RealServer = {
  name: "postgres",
  server: "PostgreSQL",
  client: "psql",
  packages: ["postgresql", "postgresql-client"],
  programs: ["initdb", "postgres", "psql"],
  ports: [{ target: 5432, readiness: "postgres", wakeOn: "fitting" }],
  spec: async ({ address, env }) => {
    const folder = await shortFolder();
    const data = join(folder, "data");
    await copyData(data);
    if (env.STANDBY !== undefined) await appendFile(join(data, "standby.signal"), "");
    await give("postgres", folder);
    const settings = { listen_addresses: address, unix_socket_directories: "", fsync: "off" };
    const extra = (env.PGEXTRA ?? "").split(" ").filter((each) => each !== "");
    const options = [...Object.entries(settings).map(([name, value]) => `${name}=${value}`), ...extra];
    return {
      command: unprivileged("postgres", [
        find("postgres") ?? "postgres",
        ...["-D", data, "-p", "5432"],
        ...options.flatMap((option) => ["-c", option]),
      ]),
      cwd: data,
    };
  },
  connections: 2,
  work: async ({ host, ports: [port] }, run) => {
    const to = ["-h", host, "-p", String(port), "-U", "postgres", "-d", "postgres", "-tA", "-c"];
    const table =
      "create table if not exists visits (id serial, who text); insert into visits (who) values ('psql')";
    await run("psql", [...to, table]);
    expectText(await run("psql", [...to, "select who from visits limit 1"]), "psql");
  },
};
