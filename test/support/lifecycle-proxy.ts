import type { TargetApi } from "../../proxy-image/src/cpln/api.ts";
import { CplnClient } from "../../proxy-image/src/cpln/client.ts";
import { healthBody } from "../../proxy-image/src/http/report.ts";
import { Log } from "../../proxy-image/src/log/log.ts";
import { Listener } from "../../proxy-image/src/net/listener.ts";
import type { Clock } from "../../proxy-image/src/runtime/clock.ts";
import { ProxyServer } from "../../proxy-image/src/runtime/proxy.ts";
import type { SimulatorClock } from "../../simulator/src/time/clock.ts";
import type { ProxySettings, TargetSettings } from "../../src/contract/settings.ts";
import { connectPeer, type Peer } from "./client.ts";
import { plane } from "./planes.ts";
import { proxySettings, targetSettings } from "./proxy.ts";

export interface SceneProxyOptions {
  settings?: Partial<TargetSettings>;
  process?: Partial<ProxySettings>;
}

/** Where a proxy of a scene stands. */
export interface ProxyPlace {
  host: string;
  ports: number[];
  apiUrl: string;
  token: string;
  clock: SimulatorClock;
  names: { org: string; gvc: string; workload: string; location: string };
}

export interface Line extends Record<string, unknown> {
  event: string;
}

interface Health {
  activeConnections: number;
  wakeInProgress: boolean;
  held: number;
  spliced: number;
  lifecycle: string;
  targets: {
    phase: string;
    held: number;
    mode: string;
    conditions: { type: string; reason: string; since?: string; nextTryAt?: string }[];
  }[];
}

/** A whole proxy in this process, whose API, sockets and settings are as they are on the platform. */
export class SceneProxy {
  readonly server: ProxyServer;
  readonly lines: Line[];
  readonly #clock: SimulatorClock;
  readonly #underWay: { calls: number };

  private constructor(
    server: ProxyServer,
    lines: Line[],
    clock: SimulatorClock,
    underWay: { calls: number },
  ) {
    this.server = server;
    this.lines = lines;
    this.#clock = clock;
    this.#underWay = underWay;
  }

  static async start(place: ProxyPlace, options: SceneProxyOptions): Promise<SceneProxy> {
    const clock: Clock = {
      now: () => place.clock.now(),
      wall: () => place.clock.now(),
      timer: (ms, callback) => place.clock.after(ms, callback),
    };
    const target = targetSettings(0, {
      workload: place.names.workload,
      gvc: place.names.gvc,
      host: place.host,
      ports: targetSettings(0).ports.flatMap((mapping) =>
        place.ports.map((port) => ({ ...mapping, listen: port, target: port })),
      ),
      idleHoldMs: 60_000,
      wakePollIntervalMs: 500,
      ...options.settings,
    });
    const settings = proxySettings([target], {
      platform: {
        endpoint: place.apiUrl,
        org: place.names.org,
        gvc: place.names.gvc,
        workload: "sftp-proxy",
        location: place.names.location,
        token: place.token,
      },
      ...options.process,
    });
    const lines: Line[] = [];
    const client = new CplnClient(settings.platform, clock);
    const underWay = { calls: 0 };
    const server = await ProxyServer.start(settings, {
      clock,
      random: () => 0.5,
      log: new Log((line) => lines.push(JSON.parse(line)), clock.wall),
      plane,
      api: (one) => counted(client.target(one), underWay),
      listen: (listen) => Listener.open({ ...listen, port: 0 }),
    });
    return new SceneProxy(server, lines, place.clock, underWay);
  }

  /** Calls to the API that have no answer yet. */
  get calls(): number {
    return this.#underWay.calls;
  }

  connect(port = 2022): Promise<Peer> {
    return connectPeer(this.server.portOf(port));
  }

  /** What `/healthz` answers now. */
  get health(): Health {
    const identity = { version: "0", plane: plane.name };
    return healthBody(this.server.report(), identity, this.#clock.now()) as Health;
  }

  get phase(): string | undefined {
    return this.health.targets[0]?.phase;
  }

  condition(type: string): Health["targets"][0]["conditions"][0] | undefined {
    return this.health.targets[0]?.conditions.find((condition) => condition.type === type);
  }

  /** All lines of these events, oldest first. */
  logged(...events: string[]): Line[] {
    return this.lines.filter(({ event }) => events.includes(event));
  }

  stop(): void {
    this.server.stop();
  }
}

function counted(api: TargetApi, underWay: { calls: number }): TargetApi {
  const count = async <T>(call: Promise<T>): Promise<T> => {
    underWay.calls += 1;
    try {
      return await call;
    } finally {
      underWay.calls -= 1;
    }
  };
  return {
    readWorkload: () => count(api.readWorkload()),
    readDeployment: () => count(api.readDeployment()),
    writeSuspend: (suspend, version) => count(api.writeSuspend(suspend, version)),
  };
}
