import type { DeploymentSnapshot, WorkloadSnapshot } from "../../proxy-image/src/core/types.ts";
import type { Answer, TargetApi } from "../../proxy-image/src/cpln/api.ts";
import { Log } from "../../proxy-image/src/log/log.ts";
import { Listener } from "../../proxy-image/src/net/listener.ts";
import { type Clock, systemClock } from "../../proxy-image/src/runtime/clock.ts";
import { ProxyServer } from "../../proxy-image/src/runtime/proxy.ts";
import type { PortMapping, ProxySettings, TargetSettings } from "../../src/contract/settings.ts";
import { connectPeer, type Peer } from "./client.ts";
import { plane } from "./planes.ts";

/** The name of the first port in settings made here; really a free one is listened on. */
export const LISTEN = 2022;

export function targetSettings(port: number, changes: Partial<TargetSettings> = {}): TargetSettings {
  const mapping: PortMapping = {
    listen: LISTEN,
    target: port,
    readiness: { kind: "banner" },
    wakeOn: "connect",
  };
  return {
    workload: "sftp",
    gvc: "demo",
    host: "127.0.0.1",
    ports: [mapping],
    idleHoldMs: 300_000,
    maxHoldMs: 90_000,
    wakeTimeoutMs: 120_000,
    wakePollIntervalMs: 50,
    probeWindowMs: 2_000,
    holdEnd: "close",
    clientFin: "leave",
    watchIntervalMs: 15_000,
    maxHeld: 1000,
    maxConnections: 4000,
    dialLimit: 64,
    earlyBytes: 16_384,
    ...changes,
  };
}

export function proxySettings(
  targets: TargetSettings[],
  changes: Partial<ProxySettings> = {},
): ProxySettings {
  return {
    targets,
    healthPort: 8081,
    listenHost: "127.0.0.1",
    drainTimeoutMs: 75_000,
    ownGraceMs: undefined,
    dataPlane: "auto",
    halfCloseLingerMs: 3_600_000,
    stallLimitMs: 3_600_000,
    maxHeldTotal: 2000,
    maxConnectionsTotal: 8000,
    platform: {
      endpoint: "http://127.0.0.1:1",
      org: "org",
      gvc: "demo",
      workload: "proxy",
      location: "loc",
      token: "not-a-token",
    },
    ...changes,
  };
}

/** The platform as one workload in memory. What must not be answered yet, waits. */
export class MemoryApi implements TargetApi {
  workload: WorkloadSnapshot;
  readonly writes: { suspend: boolean; version: number | undefined }[] = [];
  /** Replaced by tests that stop a write on its way. */
  beforeWrite: (suspend: boolean) => Promise<void> | void = () => {};

  constructor({ suspended = false } = {}) {
    this.workload = {
      id: "w",
      version: 1,
      suspended,
      graceMs: 90_000,
      mode: "normal",
      otherScaler: undefined,
    };
  }

  async readWorkload(): Promise<Answer<WorkloadSnapshot>> {
    return { ok: true, value: this.workload };
  }

  async readDeployment(): Promise<Answer<DeploymentSnapshot>> {
    return { ok: false, failure: { kind: "denied", message: "not granted" } };
  }

  async writeSuspend(suspend: boolean, version: number | undefined): Promise<Answer<number | undefined>> {
    this.writes.push({ suspend, version });
    await this.beforeWrite(suspend);
    this.workload = { ...this.workload, version: this.workload.version + 1, suspended: suspend };
    return { ok: true, value: this.workload.version };
  }
}

export interface RunningProxy {
  server: ProxyServer;
  api: MemoryApi;
  /** Every line logged so far. */
  lines: Record<string, unknown>[];
  connect(options?: { listen?: number; read?: boolean }): Promise<Peer>;
  active(): number;
}

export interface StartOptions {
  settings: ProxySettings;
  api?: MemoryApi;
  clock?: Clock;
}

/** A whole proxy in this process, on free ports. */
export async function startProxy({
  settings,
  api = new MemoryApi(),
  clock = systemClock,
}: StartOptions): Promise<RunningProxy> {
  const lines: Record<string, unknown>[] = [];
  const server = await ProxyServer.start(settings, {
    clock,
    random: () => 0.5,
    log: new Log((line) => lines.push(JSON.parse(line)), Date.now),
    plane,
    api: () => api,
    listen: (options) => Listener.open({ ...options, port: 0 }),
  });
  return {
    server,
    api,
    lines,
    connect: ({ listen = LISTEN, read = true } = {}) => connectPeer(server.portOf(listen), { read }),
    active: () => server.census.held + server.census.spliced,
  };
}
