import { mkdir, readFile, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { type EngineEvent, LocalWorkspace, type Stack } from "@pulumi/pulumi/automation/index.js";
import type { Image } from "../../../simulator/src/images/index.ts";
import { type Simulator, startSimulator } from "../../../simulator/src/index.ts";
import type { ResourceKey } from "../../../simulator/src/model.ts";
import type { ReplicaSnapshot } from "../../../simulator/src/platform/snapshot.ts";
import { type SftpEndpoint, sftpClient } from "../../../tools/demo/sftp-client.ts";
import { type EngineSession, localPlugins, openEngineSession } from "../../../tools/engine/session.ts";
import { fromRoot } from "../../../tools/lib/root.ts";

const org = "acme";
const gvc = "scale-to-zero-sftp";
const HEALTH_PORT = 8081;

export interface LoggedLine extends Record<string, unknown> {
  event: string;
  replica: string;
}

export interface Health {
  held: number;
  spliced: number;
  lifecycle: string;
  targets: { phase: string; conditions: { type: string; reason: string; since?: string }[] }[];
}

export interface PlaceOptions {
  idleHold?: string;
  graceSeconds?: number;
  /** In place of what the local platform runs by these names. */
  images?: Image[];
}

/** The sftp example on the local platform, deployed by the real engine and used by a real SFTP client. */
export class Place {
  readonly target: ResourceKey = { org, kind: "workload", gvc, name: "sftp" };
  readonly proxy: ResourceKey = { org, kind: "workload", gvc, name: "sftp-proxy" };
  /** Everything that the proxies have logged. */
  readonly lines: LoggedLine[] = [];
  readonly session: EngineSession;
  readonly simulator: Simulator;
  readonly stack: Stack;
  readonly client: Awaited<ReturnType<typeof sftpClient>>;
  #wake: (() => void)[] = [];

  private constructor(
    session: EngineSession,
    simulator: Simulator,
    stack: Stack,
    client: Awaited<ReturnType<typeof sftpClient>>,
  ) {
    this.session = session;
    this.simulator = simulator;
    this.stack = stack;
    this.client = client;
  }

  static async open(options: PlaceOptions = {}): Promise<Place> {
    const session = await openEngineSession();
    const client = await sftpClient(session.dir);
    let place: Place | undefined;
    const simulator = await startSimulator({
      org,
      gvcs: [],
      workloads: {
        images: options.images ?? [],
        bootMs: 1_000,
        probeTimeScale: 0.2,
        onLog: ({ container, replica, stream, text }) => {
          if (container !== "proxy" || stream !== "stdout" || place === undefined) return;
          place.#log(replica, text);
        },
      },
    });
    const stack = await exampleStack(session, simulator.apiUrl, simulator.deployerToken);
    await stack.setAllConfig({
      user: { value: userInfo().username },
      publicKey: { value: client.publicKey },
      idleHold: { value: options.idleHold ?? "1s" },
      terminationGracePeriodSeconds: { value: String(options.graceSeconds ?? 5) },
    });
    place = new Place(session, simulator, stack, client);
    return place;
  }

  #log(replica: string, text: string): void {
    if (!text.startsWith("{")) return;
    this.lines.push({ ...JSON.parse(text), replica });
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** The first line of one of these events that fits, past ones included from the given one on. */
  async logged(
    events: string | readonly string[],
    { from = 0, replica }: { from?: number; replica?: string } = {},
  ): Promise<LoggedLine> {
    for (;;) {
      const line = this.lines
        .slice(from)
        .find(
          (one) => [events].flat().includes(one.event) && (replica === undefined || one.replica === replica),
        );
      if (line) return line;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Settles when the proxy serves, with its replica. */
  async ready(): Promise<ReplicaSnapshot> {
    const { replicas } = await this.simulator.platform.when(this.proxy, ({ ready }) => ready > 0);
    await this.simulator.platform.settled();
    const replica = replicas.find((one) => one.ready);
    if (!replica) throw new Error("no replica of the proxy is ready");
    return replica;
  }

  async suspended(): Promise<void> {
    await this.simulator.platform.when(
      this.target,
      ({ suspendedStatus }) => suspendedStatus === "suspended",
      60_000,
    );
  }

  async endpoint(): Promise<SftpEndpoint> {
    return { ...(await this.simulator.platform.endpoint(this.proxy, 22)), user: userInfo().username };
  }

  async health(): Promise<Health> {
    const { address } = await this.ready();
    const response = await fetch(`http://${address}:${HEALTH_PORT}/healthz`);
    return (await response.json()) as Health;
  }

  /** What the proxies have written to the target and the platform has accepted, in order. */
  get accepted(): string[] {
    return this.simulator.recorder
      .matching({ method: "PATCH", path: /\/workload\/sftp$/, principal: /\/identity\// })
      .filter(({ status }) => status === 200)
      .map(({ body }) => (JSON.stringify(body).includes('"suspend":true') ? "suspend" : "wake"));
  }

  async dispose(): Promise<void> {
    await this.simulator.dispose();
    await this.session.dispose();
  }
}

/** The example's own project in a folder of its own, so that no stack's settings are left in the checkout. */
async function exampleStack(session: EngineSession, apiUrl: string, token: string): Promise<Stack> {
  const workDir = join(session.dir, "sftp");
  await mkdir(workDir);
  const project = await readFile(fromRoot("examples", "sftp", "Pulumi.yaml"), "utf8");
  const main = fromRoot("examples", "sftp", "index.ts");
  const local = project.replace(/^main: .*$/m, `main: ${main}`);
  // JSON is YAML.
  await writeFile(join(workDir, "Pulumi.yaml"), `${local}\nplugins: ${JSON.stringify(localPlugins)}\n`);
  return LocalWorkspace.createStack(
    { stackName: "sftp", workDir },
    {
      pulumiCommand: session.automation,
      envVars: { ...session.env, CPLN_ENDPOINT: apiUrl, CPLN_ORG: org, CPLN_TOKEN: token },
    },
  );
}

/** The resources that an operation creates, as `type name`, without the engine's own: the stack and its provider. */
export function watchCreated() {
  const created: string[] = [];
  const onEvent = ({ resOutputsEvent }: EngineEvent) => {
    const step = resOutputsEvent?.metadata;
    if (step?.op !== "create" || step.type.startsWith("pulumi:")) return;
    created.push(`${step.type} ${step.urn.split("::").at(-1)}`);
  };
  return { created, onEvent };
}

/** Operations other than `same`, with how many resources each has. */
export const changes = (counts: Record<string, number> = {}) =>
  Object.fromEntries(Object.entries(counts).filter(([operation]) => operation !== "same"));
