/** The postgres example by the real engine: psql wakes the database, and a scan does not. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { ResourceKey } from "../../simulator/src/model.ts";
import { type EngineSession, localPlugins, openEngineSession } from "../../tools/engine/session.ts";
import { fromRoot } from "../../tools/lib/root.ts";
import { connectPeer } from "../support/client.ts";
import { postgres } from "../support/servers/postgres.ts";
import { imageOf, missing, removeFolders, required, run } from "../support/servers/server.ts";

const org = "acme";
const gvc = "postgres-on-demand";
const database: ResourceKey = { org, kind: "workload", gvc, name: "database" };
const proxy: ResourceKey = { ...database, name: "database-proxy" };

describe.skipIf(missing(postgres).length > 0 && !required)("the postgres example", () => {
  let session: EngineSession;
  let simulator: Simulator;
  let stack: Stack;

  beforeAll(async () => {
    expect(missing(postgres), `install ${postgres.packages.join(", ")}`).toEqual([]);
    session = await openEngineSession();
    const images = [imageOf(postgres)];
    simulator = await startSimulator({ org, gvcs: [], workloads: { images, probeTimeScale: 0.1 } });
    const workDir = join(session.dir, "postgres");
    await mkdir(workDir);
    const project = await readFile(fromRoot("examples", "postgres", "Pulumi.yaml"), "utf8");
    const main = fromRoot("examples", "postgres", "index.ts");
    const local = project.replace(/^main: .*$/m, `main: ${main}`);
    // JSON is YAML.
    await writeFile(join(workDir, "Pulumi.yaml"), `${local}\nplugins: ${JSON.stringify(localPlugins)}\n`);
    stack = await LocalWorkspace.createStack(
      { stackName: "test", workDir },
      {
        pulumiCommand: session.automation,
        envVars: {
          ...session.env,
          CPLN_ENDPOINT: simulator.apiUrl,
          CPLN_ORG: org,
          CPLN_TOKEN: simulator.deployerToken,
        },
      },
    );
    await stack.setConfig("allow[0]", { value: "0.0.0.0/0" }, true);
    await stack.setAllConfig({
      password: { value: "only-a-test", secret: true },
    });
  });

  afterAll(async () => {
    await simulator?.dispose();
    await removeFolders();
    await session?.dispose();
  });

  const snapshot = () => simulator.platform.snapshot(database);

  it("comes up with a database that runs nowhere", async () => {
    await stack.up();
    await simulator.platform.when(proxy, ({ ready }) => ready > 0);
    expect(snapshot()).toMatchObject({ suspendedStatus: "suspended", replicas: [] });
  });

  it("is left alone by a scan", async () => {
    const { host, port } = await simulator.platform.endpoint(proxy, 5432);
    const scanner = await connectPeer(port, { host });
    scanner.write("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n");
    expect(["end", "close", "ECONNRESET"]).toContain(await scanner.ended);
    expect(snapshot()).toMatchObject({ suspendedStatus: "suspended", replicas: [] });
  });

  it("is waked by psql, which gets its rows", async () => {
    const { host, port } = await simulator.platform.endpoint(proxy, 5432);
    await postgres.work({ host, ports: [port], scratch: session.dir }, run);
    expect(snapshot().ready).toBe(1);
  });

  it("shows no difference for being awake", async () => {
    const { changeSummary = {} } = await stack.preview();
    expect(Object.keys(changeSummary)).toEqual(["same"]);
  });
});
