import { request } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { ApiSwitches } from "../../simulator/src/api/switches.ts";
import type { CallMatch, CallRecord } from "../../simulator/src/faults/call.ts";
import { functionImage } from "../../simulator/src/images/index.ts";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { JsonObject, ResourceKey } from "../../simulator/src/model.ts";
import type { BootDelays } from "../../simulator/src/platform/boot.ts";
import type { PlatformSwitches } from "../../simulator/src/platform/settings.ts";
import { SimulatorClock } from "../../simulator/src/time/clock.ts";
import type { Peer } from "./client.ts";
import { serveName } from "./lifecycle-names.ts";
import { SceneProxy, type SceneProxyOptions } from "./lifecycle-proxy.ts";
import { planeSettled } from "./planes.ts";

/** What the target does with a connection to a port. */
export type Manner = "echo" | "silent" | "close" | "reset";

export interface SceneOptions {
  ports?: number[];
  suspended?: boolean;
  /** The target's termination grace, for which an old generation goes on answering. */
  graceSeconds?: number;
  boot?: BootDelays;
  autoscaling?: JsonObject;
  tags?: JsonObject;
  workloads?: Partial<PlatformSwitches>;
  api?: Partial<ApiSwitches>;
}

const org = "acme";
const gvc = "shop";
const HOST = "sftp.shop.cpln.local";

/** The length of what every connection is greeted with: `G01 2022` and a line's end. */
const GREETING = 9;

/** Turns of the event loop without anything under way, and how long is waited for them. */
const QUIET_TURNS = 12;
const PATIENCE_MS = 2_000;

/** How long time may run, of the scene's own, until something has happened. */
const LIMIT_MS = 3_600_000;

/**
 * A target on the local platform with proxies in front of it, all in this process and all on one clock that stands
 * still unless a test moves it. Every socket is real.
 */
export class Scene implements AsyncDisposable {
  readonly clock: SimulatorClock;
  readonly simulator: Simulator;
  readonly target: ResourceKey;
  readonly path: string;
  readonly ports: number[];
  /** What a port does; `echo` where nothing is said. */
  readonly manners = new Map<number, Manner>();
  /** The containers that have been started so far: the number of the generation that answers last. */
  generations = 0;
  readonly #proxies: SceneProxy[] = [];
  /** The target's ends of connections that it will never answer. */
  readonly #silent = new Set<Socket>();
  readonly #token: string;
  readonly #forgetName: () => void;

  private constructor(simulator: Simulator, clock: SimulatorClock, ports: number[]) {
    this.simulator = simulator;
    this.clock = clock;
    this.ports = ports;
    this.target = { org, gvc, kind: "workload", name: "sftp" };
    this.path = `/org/${org}/gvc/${gvc}/workload/sftp`;
    const grant = { kind: "workload", permissions: ["edit"], targetLinks: [this.path] };
    this.#token = simulator.createToken("proxy", [grant]);
    this.#forgetName = serveName(HOST, () => simulator.platform.meshAddress(this.target));
  }

  static async open(options: SceneOptions = {}): Promise<Scene> {
    const { ports = [2022], boot } = options;
    const clock = new SimulatorClock({ paused: true });
    const image = functionImage({
      name: "sftp",
      run: async (container) => {
        const generation = ++scene.generations;
        for (const port of container.ports) {
          await container.listen(port, (socket) => scene.#serve(socket, generation, port));
        }
      },
    });
    const simulator = await startSimulator({
      org,
      gvcs: [gvc],
      clock,
      switches: options.api ?? {},
      workloads: {
        images: [image],
        memoryLimits: "off",
        switches: { unknownCallers: "allow", ...options.workloads },
      },
    });
    const scene = new Scene(simulator, clock, ports);
    if (boot !== undefined) simulator.platform.setBoot(scene.target, boot);
    await scene.create(options);
    return scene;
  }

  /** Writes the target's document, which must not be there. */
  async create(options: SceneOptions = {}): Promise<void> {
    const { suspended = true, graceSeconds = 5, autoscaling, tags = {} } = options;
    await this.call("POST", `/org/${org}/gvc/${gvc}/workload`, {
      name: "sftp",
      tags,
      spec: {
        type: "standard",
        containers: [
          {
            name: "main",
            image: "sftp:1",
            ports: this.ports.map((number) => ({ number, protocol: "tcp" })),
          },
        ],
        defaultOptions: {
          suspend: suspended,
          autoscaling: { metric: "disabled", minScale: 1, maxScale: 1, ...autoscaling },
          capacityAI: false,
        },
        rolloutOptions: { terminationGracePeriodSeconds: graceSeconds },
      },
    });
    await this.simulator.platform.settled();
    if (!suspended) await this.until(() => this.ready > 0);
  }

  /** A proxy in front of the target. Its first read is over when this settles. */
  async proxy(options: SceneProxyOptions = {}): Promise<SceneProxy> {
    const proxy = await SceneProxy.start(
      {
        host: HOST,
        ports: this.ports,
        apiUrl: this.simulator.apiUrl,
        token: this.#token,
        clock: this.clock,
        names: { org, gvc, workload: this.target.name, location: "aws-us-west-2" },
      },
      options,
    );
    this.#proxies.push(proxy);
    await this.settle();
    return proxy;
  }

  #serve(socket: Socket, generation: number, port: number): void {
    const manner = this.manners.get(port) ?? "echo";
    if (manner === "close") socket.end();
    if (manner === "reset") socket.resetAndDestroy();
    if (manner === "silent") {
      this.#silent.add(socket);
      socket.on("end", () => socket.end());
      socket.on("close", () => this.#silent.delete(socket));
      socket.resume();
    }
    if (manner !== "echo") return;
    socket.write(`G${String(generation).padStart(2, "0")} ${port}\n`);
    socket.pipe(socket);
  }

  // Time.

  /**
   * Lets everything that is under way come through, while time stands still. Sockets take a moment of real time for
   * what takes none here, so this looks at what is still open rather than at how long it has been.
   */
  async settle(): Promise<void> {
    const patience = performance.now() + PATIENCE_MS;
    for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < patience; quiet++) {
      await setImmediate();
      await planeSettled();
      if (this.#underWay()) quiet = 0;
      if (quiet === 0) await this.simulator.platform.settled();
    }
  }

  #underWay(): boolean {
    const asked = this.#proxies.reduce((sum, { calls }) => sum + calls, 0);
    const open = this.simulator.recorder.calls.filter(({ outcome }) => outcome === "open").length;
    if (asked > open || process.getActiveResourcesInfo().includes("TCPConnectWrap")) return true;
    const { replicas, connections: seen } = this.simulator.platform.snapshot(this.target);
    // Booted or ended as far as time is concerned, and the machine has yet to do it.
    const booting = ({ phase, containers }: (typeof replicas)[0]) =>
      phase === "killed" || (phase === "up" && containers.some((container) => container.phase === "waiting"));
    if (replicas.some(booting)) return true;
    const connections = seen({ open: true });
    const unanswered = connections.filter(({ outcome, bytesOut }) => outcome === "relayed" && bytesOut === 0);
    const turnedAway = connections.some(({ outcome }) => outcome !== "relayed" && outcome !== "mute");
    return turnedAway || unanswered.length > this.#silent.size;
  }

  /** Lets time run. What falls due on the way happens on the way. */
  async pass(ms: number, stepMs = 100): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await this.settle();
      this.clock.advance(Math.min(stepMs, left));
    }
    await this.settle();
  }

  /** Lets time run until this holds. Answers how long that took. */
  async until(holds: () => boolean, stepMs = 50): Promise<number> {
    const from = this.clock.now();
    await this.settle();
    while (!holds()) {
      if (this.clock.now() - from > LIMIT_MS) throw new Error(`did not come to hold: ${holds}`);
      this.clock.advance(stepMs);
      await this.settle();
    }
    return this.clock.now() - from;
  }

  /** Lets time run until this has come. */
  async during<T>(promise: Promise<T>, stepMs = 50): Promise<T> {
    let over = false;
    const end = () => {
      over = true;
    };
    promise.then(end, end);
    await this.until(() => over, stepMs);
    return promise;
  }

  /** Which generation and which port this client has been connected to; an empty text: none, it was let go. */
  async greeting(client: Peer): Promise<string> {
    return (await this.during(client.text(GREETING))).trimEnd();
  }

  // The target.

  get ready(): number {
    return this.simulator.platform.snapshot(this.target).ready;
  }

  get suspended(): boolean {
    return this.simulator.platform.snapshot(this.target).suspendedStatus === "suspended";
  }

  /** Every connection that reached the target's address, whoever or nobody took it. */
  get connections() {
    return this.simulator.platform.connections(this.target);
  }

  /** Connections that a replica of the target took. */
  get taken() {
    return this.connections.filter(({ outcome }) => outcome === "relayed");
  }

  // The API.

  /** Every write of the proxies, in order: what it was to write, and whether it was. */
  get writes(): { suspend: boolean; status: number | undefined }[] {
    return this.writesSince(0);
  }

  writesSince(count: number): { suspend: boolean; status: number | undefined }[] {
    return this.simulator.recorder
      .matching(written)
      .slice(count)
      .map((call) => ({ suspend: suspendOf(call) === true, status: call.status }));
  }

  /** The accepted ones: `suspend`, `wake`, in order. */
  get accepted(): string[] {
    return this.writes
      .filter(({ status }) => status === 200)
      .map(({ suspend }) => (suspend ? "suspend" : "wake"));
  }

  get reads(): CallRecord[] {
    return this.simulator.recorder.matching({ method: "GET", path: this.path });
  }

  /** Somebody else than a proxy does something. */
  call(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.simulator.deployerToken}`,
      "user-agent": FOREIGN,
      "content-length": Buffer.byteLength(text),
    };
    return new Promise((resolve, reject) => {
      const url = this.simulator.apiUrl + path;
      const sent = request(url, { method, agent: false, headers }, (response) => {
        let received = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          received += chunk;
        });
        response.on("end", () => {
          if ((response.statusCode ?? 500) < 300) resolve(received === "" ? {} : JSON.parse(received));
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${received}`));
        });
      });
      sent.on("error", reject);
      sent.end(text);
    });
  }

  /** Somebody else suspends or wakes the target. */
  async suspend(suspend: boolean): Promise<void> {
    await this.call("PATCH", this.path, { spec: { defaultOptions: { suspend } } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of this.#proxies) proxy.stop();
    this.#forgetName();
    await this.simulator.dispose();
  }
}

const FOREIGN = "somebody-else";

function suspendOf(call: CallRecord): unknown {
  const body = call.body as { spec?: { defaultOptions?: { suspend?: unknown } } } | undefined;
  return body?.spec?.defaultOptions?.suspend;
}

/** The proxies' own calls, by what they are. */
const written: CallMatch = { method: "PATCH", where: ({ userAgent }) => userAgent !== FOREIGN };
const ownPatch = (suspend: boolean): CallMatch => ({
  method: "PATCH",
  where: (call) => call.userAgent !== FOREIGN && suspendOf(call) === suspend,
});
export const SUSPEND = ownPatch(true);
export const WAKE = ownPatch(false);
export const READ: CallMatch = { method: "GET", path: /\/workload\/[^/]+$/ };
export const STATUS: CallMatch = { method: "GET", path: /\/deployment\// };
/** All of the proxies' calls. */
export const ANY: CallMatch = { where: ({ userAgent }) => userAgent !== FOREIGN };
