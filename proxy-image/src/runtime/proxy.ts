import type { Socket } from "node:net";
import type { PortMapping, ProxySettings, TargetSettings } from "../../../src/contract/settings";
import type { TargetReport } from "../core/describe";
import type { TargetApi } from "../cpln/api";
import type { Log } from "../log/log";
import { Sums } from "../log/sums";
import { normaliseAddress, shortenAddress } from "../net/address";
import { EarlyBudget } from "../net/early-budget";
import { Listener } from "../net/listener";
import type { Plane } from "../net/plane";
import { abort } from "../net/sockets";
import { type Census, refusal } from "./admission";
import type { Clock } from "./clock";
import type { Begun, Finish } from "./connection";
import { Controller } from "./controller";
import { Drain, type DrainPhase } from "./drain";
import { Rooms } from "./rooms";

/** Early bytes of all held clients together: a quarter of the memory that the proxy is given. */
const EARLY_BYTES_TOTAL = 32 * 1024 * 1024;

/** Trouble in accepting comes in bursts; this often is it said. */
const TROUBLE_EVERY_MS = 10_000;

/** Ends that are nobody's concern one by one. */
const ORDINARY: ReadonlySet<string> = new Set(["closed", "client_left", "unfit"]);

export interface ProxyDeps {
  clock: Clock;
  random: () => number;
  log: Log;
  plane: Plane;
  api: (target: TargetSettings) => TargetApi;
  listen?: typeof Listener.open;
}

export interface ProxyReport {
  lifecycle: DrainPhase;
  census: Census;
  targets: { settings: TargetSettings; report: TargetReport }[];
}

/** A port that can't be listened on. */
export class ListenError extends Error {
  readonly port: number;
  override readonly cause: Error;

  constructor(port: number, cause: Error) {
    super(cause.message);
    this.port = port;
    this.cause = cause;
  }
}

/** All targets of this process, each with its controller, behind one set of caps. */
export class ProxyServer {
  readonly drain: Drain;
  private readonly controllers: Controller[];
  private readonly listeners = new Map<number, Listener>();
  private readonly tellTrouble = new Map<number, (error: Error) => void>();
  private readonly sums: Sums;
  private readonly rooms: Rooms | undefined;
  private nextId = 1;
  private readonly settings: ProxySettings;
  private readonly deps: ProxyDeps;

  private constructor(settings: ProxySettings, deps: ProxyDeps) {
    this.settings = settings;
    this.deps = deps;
    const { clock, plane, log } = deps;
    const budget = new EarlyBudget(EARLY_BYTES_TOTAL);
    this.sums = new Sums(log, clock);
    this.drain = new Drain({
      clock,
      log,
      timeoutMs: settings.drainTimeoutMs,
      census: () => this.census,
      writing: () => this.controllers.some(({ writing }) => writing),
      begin: () => {
        for (const controller of this.controllers) controller.drain();
      },
      closeListeners: () => {
        for (const listener of this.listeners.values()) listener.close();
      },
    });
    this.controllers = settings.targets.map((target) => this.control(target, budget));
    if (plane.lanes) this.rooms = new Rooms(plane.lanes, settings, this.controllers);
  }

  /** Resolves when every port is listened on; clients are held from then on. */
  static async start(settings: ProxySettings, deps: ProxyDeps): Promise<ProxyServer> {
    const proxy = new ProxyServer(settings, deps);
    try {
      await Promise.all(proxy.controllers.map((controller) => proxy.listen(controller)));
    } catch (error) {
      proxy.stop();
      throw error;
    }
    for (const controller of proxy.controllers) controller.start();
    return proxy;
  }

  get census(): Census {
    return this.controllers.reduce(
      (sum, { census }) => ({ held: sum.held + census.held, spliced: sum.spliced + census.spliced }),
      { held: 0, spliced: 0 },
    );
  }

  get ready(): boolean {
    return this.drain.phase === "serving";
  }

  report(): ProxyReport {
    return {
      lifecycle: this.drain.phase,
      census: this.census,
      targets: this.controllers.map((controller) => ({
        settings: controller.settings,
        report: controller.report(),
      })),
    };
  }

  /** The port really listened on. */
  portOf(listen: number): number {
    return this.listeners.get(listen)?.port ?? listen;
  }

  /** Ends everything at once. */
  stop(): void {
    for (const listener of this.listeners.values()) listener.close();
    for (const controller of this.controllers) {
      controller.stop();
      controller.cut();
    }
    this.sums.flush();
  }

  private control(target: TargetSettings, budget: EarlyBudget): Controller {
    const { clock, random, plane, log, api } = this.deps;
    const controller: Controller = new Controller({
      settings: target,
      targets: this.settings.targets.length,
      ownGraceMs: this.settings.ownGraceMs,
      api: api(target),
      plane,
      budget,
      clock,
      random,
      log: log.of(`${target.gvc}/${target.workload}`),
      onFinish: (mapping, address, finish) => this.onFinish(target, mapping, address, finish),
      onHanded: (mapping, { socket, ...begun }) => this.onClient(controller, mapping, socket, begun),
      onJoined: (clients) => this.sums.countAccepted(clients),
      onTrouble: ({ listen }, error) => this.tellTrouble.get(listen)?.(error),
      onChange: () => {
        this.rooms?.adjust();
        this.drain.changed();
      },
    });
    return controller;
  }

  private async listen(controller: Controller): Promise<void> {
    const open = this.deps.listen ?? Listener.open;
    await Promise.all(
      controller.settings.ports.map(async (mapping) => {
        const tellTrouble = this.troubleTeller(mapping.listen);
        this.tellTrouble.set(mapping.listen, tellTrouble);
        const listener = await open({
          host: this.settings.listenHost,
          port: mapping.listen,
          onClient: (socket) => this.onClient(controller, mapping, socket),
          onTrouble: tellTrouble,
        }).catch((error: Error) => {
          throw new ListenError(mapping.listen, error);
        });
        this.rooms?.openLane(controller, mapping, listener);
        this.listeners.set(mapping.listen, listener);
      }),
    );
  }

  private onClient(controller: Controller, mapping: PortMapping, socket: Socket, begun?: Begun): void {
    const { settings } = this;
    const address = normaliseAddress(socket.remoteAddress);
    const reason = refusal(
      { census: controller.census, caps: controller.settings },
      {
        census: this.census,
        caps: { maxHeld: settings.maxHeldTotal, maxConnections: settings.maxConnectionsTotal },
      },
    );
    if (reason === undefined) {
      this.sums.countAccepted();
      controller.take({ id: this.nextId++, socket, address, begun }, mapping);
      return;
    }
    begun?.target?.destroy();
    if (controller.settings.holdEnd === "reset") abort(socket);
    else socket.destroy();
    this.sums.countEnded({ reason: `refused_${reason}`, heldMs: 0, bytesUp: 0, bytesDown: 0 });
    if (!this.sums.mayLog()) return;
    const client = shortenAddress(address);
    this.targetLog(controller.settings).event("connection_refused", { port: mapping.listen, client, reason });
  }

  private onFinish(
    target: TargetSettings,
    mapping: PortMapping,
    address: () => string,
    finish: Finish,
  ): void {
    this.sums.countEnded(finish);
    if (ORDINARY.has(finish.reason) || !this.sums.mayLog()) return;
    const { scan: _scan, unanswered: _unanswered, stranger: _stranger, ...account } = finish;
    this.targetLog(target).event("connection_ended", {
      port: mapping.listen,
      client: shortenAddress(address()),
      ...account,
      heldMs: Math.round(finish.heldMs),
      splicedMs: Math.round(finish.splicedMs),
    });
  }

  private targetLog(target: TargetSettings): Log {
    return this.deps.log.of(`${target.gvc}/${target.workload}`);
  }

  private troubleTeller(port: number): (error: Error) => void {
    let count = 0;
    let saidAt = Number.NEGATIVE_INFINITY;
    return (error) => {
      count += 1;
      const now = this.deps.clock.now();
      if (now - saidAt < TROUBLE_EVERY_MS) return;
      this.deps.log.event("accept_trouble", { port, error: error.message, count });
      saidAt = now;
      count = 0;
    };
  }
}
