/** The real proxy process in front of real servers, both on the local platform's terms. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, startSimulator } from "../../../simulator/src/index.ts";
import type { JsonObject, ResourceKey } from "../../../simulator/src/model.ts";
import { ProxyProcess } from "../proxy-process.ts";
import { deadPort } from "../target.ts";
import { realImages } from "./index.ts";
import { type RealServer, removeFolders, run } from "./server.ts";

const org = "acme";
const gvc = "shop";

export interface Placed {
  key: ResourceKey;
  listens: number[];
  scratch: string;
}

export interface FrontOptions {
  /** Variables of a server's container beside its own. */
  env?: Record<string, Record<string, string>>;
  settings?: Record<string, string>;
}

/** Servers that are suspended, and one proxy in front of them all. */
export class Front {
  readonly simulator: Simulator;
  readonly proxy: ProxyProcess;
  readonly placed: ReadonlyMap<string, Placed>;
  readonly #folder: string;

  private constructor(
    simulator: Simulator,
    proxy: ProxyProcess,
    placed: ReadonlyMap<string, Placed>,
    folder: string,
  ) {
    this.simulator = simulator;
    this.proxy = proxy;
    this.placed = placed;
    this.#folder = folder;
  }

  static async open(servers: readonly RealServer[], options: FrontOptions = {}): Promise<Front> {
    const folder = await mkdtemp(join(tmpdir(), "front-"));
    const simulator = await startSimulator({
      // Readiness by the platform's word needs a deployment that can be read.
      switches: { deploymentReadable: "view" },
      org,
      gvcs: [gvc],
      workloads: {
        images: realImages(),
        memoryLimits: "off",
        probeTimeScale: 0.05,
        switches: { unknownCallers: "allow" },
      },
    });
    const placed = new Map<string, Placed>();
    for (const server of servers) placed.set(server.name, await place(simulator, server, folder, options));
    const links = servers.map(({ name }) => `/org/${org}/gvc/${gvc}/workload/${name}`);
    const token = simulator.createToken("proxy", [
      { kind: "workload", permissions: ["edit"], targetLinks: links },
    ]);
    const targets = servers.map((server, index) => {
      const { key, listens } = placed.get(server.name) as Placed;
      const ports = server.ports.map(({ target, readiness, wakeOn }, at) => ({
        listen: listens[at],
        target: at > 0 && server.name === "vsftpd" ? listens[at] : target,
        readiness,
        wakeOn,
      }));
      const host = simulator.platform.meshAddress(key);
      return [`TARGET_${index + 1}`, JSON.stringify({ workload: server.name, gvc, host, ports })];
    });
    const proxy = new ProxyProcess({
      ...Object.fromEntries(targets),
      CPLN_ENDPOINT: simulator.apiUrl,
      CPLN_ORG: org,
      CPLN_GVC: gvc,
      CPLN_LOCATION: "aws-us-west-2",
      CPLN_TOKEN: token,
      LISTEN_HOST: "127.0.0.1",
      HEALTH_PORT: String(await deadPort()),
      WAKE_POLL_INTERVAL: "100ms",
      ...options.settings,
    });
    await proxy.logged("started");
    return new Front(simulator, proxy, placed, folder);
  }

  async work(server: RealServer): Promise<void> {
    const { listens, scratch } = this.of(server);
    await server.work({ host: "127.0.0.1", ports: listens, scratch }, run);
  }

  of({ name }: RealServer): Placed {
    const placed = this.placed.get(name);
    if (!placed) throw new Error(`${name} is not here`);
    return placed;
  }

  /** The lines that the proxy has logged of a server. */
  lines({ name }: RealServer): Record<string, unknown>[] {
    return this.proxy.lines.filter(({ target }) => target === `${gvc}/${name}`);
  }

  /** Connections that reached the server's address. */
  connections(server: RealServer) {
    return this.simulator.platform.connections(this.of(server).key);
  }

  async close(): Promise<void> {
    await this.proxy.stop();
    await this.simulator.dispose();
    await removeFolders();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function place(
  simulator: Simulator,
  server: RealServer,
  folder: string,
  { env: more = {} }: FrontOptions,
): Promise<Placed> {
  const { name, ports } = server;
  const key: ResourceKey = { org, gvc, kind: "workload", name };
  const scratch = await mkdtemp(join(folder, `${name}-`));
  const listens = await Promise.all(ports.map(() => deadPort()));
  const passive = name === "vsftpd" ? { PASSIVE: String(listens[1]) } : {};
  const env = { ...(await server.env?.(scratch)), ...passive, ...more[name] };
  const first = ports[0]?.target ?? 0;
  const declared = ports.map(({ target }, at) => (at > 0 && name === "vsftpd" ? (listens[at] ?? 0) : target));
  const response = await fetch(`${simulator.apiUrl}/org/${org}/gvc/${gvc}/workload`, {
    method: "POST",
    headers: { authorization: `Bearer ${simulator.deployerToken}`, "content-type": "application/json" },
    body: JSON.stringify({
      name,
      spec: {
        type: "standard",
        containers: [
          {
            name: "main",
            image: `${name}:1`,
            ports: declared.map((number) => ({ number, protocol: "tcp" })),
            env: Object.entries(env).map(([each, value]) => ({ name: each, value })),
            readinessProbe: { tcpSocket: { port: first }, initialDelaySeconds: 0, periodSeconds: 1 },
          },
        ],
        defaultOptions: {
          suspend: true,
          autoscaling: { metric: "disabled", minScale: 1, maxScale: 1 },
          capacityAI: false,
        },
        rolloutOptions: { terminationGracePeriodSeconds: 1 },
      },
    } satisfies JsonObject),
  });
  if (!response.ok) throw new Error(await response.text());
  await simulator.platform.settled();
  return { key, listens, scratch };
}
