import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expectText, find, type RealServer, run, shortFolder, template } from "./server.ts";

const copyData = template(async (folder) => {
  await mkdir(folder);
  await run("mariadb-install-db", [
    ...["--no-defaults", `--datadir=${folder}`, "--user=root", "--skip-test-db"],
    "--innodb-log-file-size=4M",
  ]);
});

export const mariadb: RealServer = {
  name: "mariadb",
  server: "MariaDB",
  client: "mariadb",
  packages: ["mariadb-server", "mariadb-client"],
  programs: ["mariadbd", "mariadb", "mariadb-install-db"],
  ports: [{ target: 3306, readiness: "mysql" }],
  spec: async ({ address }) => {
    const folder = await shortFolder();
    await copyData(join(folder, "data"));
    return {
      command: [
        find("mariadbd") ?? "mariadbd",
        ...["--no-defaults", `--datadir=${join(folder, "data")}`, `--socket=${join(folder, "s")}`],
        ...[`--bind-address=${address}`, "--port=3306", "--user=root", "--skip-grant-tables"],
        ...["--innodb-log-file-size=4M", "--innodb-buffer-pool-size=8M", "--skip-name-resolve"],
      ],
      cwd: folder,
    };
  },
  connections: 2,
  work: async ({ host, ports: [port] }, run) => {
    const to = ["--no-defaults", `--host=${host}`, `--port=${port}`, "--protocol=tcp", "-N", "-e"];
    await run("mariadb", [
      ...to,
      "create database if not exists shop; create table if not exists shop.visits (who text); " +
        "insert into shop.visits values ('mariadb')",
    ]);
    expectText(await run("mariadb", [...to, "select who from shop.visits limit 1"]), "mariadb");
  },
};
