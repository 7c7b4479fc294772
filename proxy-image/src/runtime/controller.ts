import type { Socket } from "node:net";
import type { PortMapping, TargetSettings } from "../../../src/contract/settings";
import { describe, type TargetReport } from "../core/describe";
import { initialState } from "../core/state";
import { step } from "../core/step";
import type { CallFailure, Effect, Event, Note, TargetConfig, TargetState } from "../core/types";
import type { Answer, TargetApi } from "../cpln/api";
import type { Log } from "../log/log";
import { DialQueue } from "../net/dial-queue";
import type { EarlyBudget } from "../net/early-budget";
import type { HandedOver, LaneEnd, LaneMaker, Room } from "../net/lane";
import type { Listener } from "../net/listener";
import type { Plane } from "../net/plane";
import { protocolOf } from "../probes";
import type { Protocol } from "../probes/protocol";
import type { Census } from "./admission";
import type { Clock } from "./clock";
import { type Begun, Connection, type Finish, type Report } from "./connection";
import { passed } from "./finish";
import { Lanes } from "./lanes";
import { Ledger } from "./ledger";
import { type ProbePort, Prober } from "./prober";
import { Silence } from "./silence";
import { WakeTimes } from "./wake-times";

export interface ControllerDeps {
  settings: TargetSettings;
  /** How many targets share this process. */
  targets: number;
  ownGraceMs: number | undefined;
  api: TargetApi;
  plane: Plane;
  budget: EarlyBudget;
  clock: Clock;
  random: () => number;
  log: Log;
  /** Told once for every admitted client. */
  onFinish: (mapping: PortMapping, clientAddress: () => string, finish: Finish) => void;
  /** A client whom a lane has handed over: to be admitted, or not. */
  onHanded: (mapping: PortMapping, client: HandedOver) => void;
  /** So many clients were admitted by lanes. */
  onJoined: (clients: number) => void;
  onTrouble: (mapping: PortMapping, error: Error) => void;
  /** Something that the drain may wait for has changed. */
  onChange?: () => void;
  probe?: ProbePort;
}

export interface Client {
  id: number;
  socket: Socket;
  address: string;
  begun?: Begun | undefined;
}

/** After a fault of the proxy's own, core is asked again this much later. */
const AFTER_FAULT_MS = 1_000;

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/**
 * Owns one target: feeds its core with what happens and performs what the core asks for, in order. An event that
 * arises while effects are performed waits in a queue until they are all done.
 */
export class Controller {
  readonly settings: TargetSettings;
  private readonly config: TargetConfig;
  private state: TargetState;
  private readonly ledger = new Ledger();
  private readonly lanes: Lanes;
  /** Whose lanes may be open now. */
  private openPorts: readonly number[] = [];
  private readonly dials: DialQueue;
  private readonly mappings: ReadonlyMap<number, PortMapping>;
  private readonly protocols: ReadonlyMap<number, Protocol>;
  private readonly prober: Prober;
  private readonly silence: Silence;
  private readonly wakeTimes: WakeTimes;
  /** What core is told next. Made when its turn comes, since what it should say may change while it waits. */
  private readonly queue: (() => Event | undefined)[] = [];
  private phase: "idle" | "stepping" | "stopped" = "idle";
  private now: number;
  private alarmAt: number | undefined;
  private cancelAlarm = () => {};
  private live: Record<"held" | "spliced", Set<Connection>> = { held: new Set(), spliced: new Set() };
  private readonly deps: ControllerDeps;

  constructor(deps: ControllerDeps) {
    this.deps = deps;
    const { settings, clock } = deps;
    this.settings = settings;
    this.mappings = new Map(settings.ports.map((mapping) => [mapping.listen, mapping]));
    this.protocols = new Map(
      settings.ports.map((mapping) => [mapping.listen, protocolOf(mapping, settings.host)]),
    );
    this.lanes = new Lanes({
      clock,
      onHanded: deps.onHanded,
      onEnded: (mapping, end) => this.onLaneEnd(mapping, end),
      onTrouble: deps.onTrouble,
      onJoined: deps.onJoined,
    });
    this.dials = new DialQueue(settings.dialLimit, () => this.lanes.census.held);
    this.silence = new Silence(settings.ports, clock);
    this.wakeTimes = new WakeTimes(settings.maxHoldMs, clock);
    this.prober = new Prober({
      settings,
      protocols: this.protocols,
      api: deps.api,
      clock,
      probe: deps.probe,
    });
    const { ownGraceMs, targets } = deps;
    this.config = { ...settings, ports: [...this.mappings.keys()], ownGraceMs, targets };
    this.now = clock.now();
    this.state = initialState(this.config, this.now);
  }

  start(): void {
    this.dispatch({ type: "tick" });
  }

  /**
   * Lets the plane take a port's clients by itself while the target is awake, where the target speaks first: what a
   * client says is looked at later if at all, to tell afterwards whether it was a stranger.
   */
  openLane(mapping: PortMapping, listener: Listener, lanes: LaneMaker, rooms: readonly [Room, Room]): void {
    const protocol = this.protocols.get(mapping.listen);
    const opening = mapping.wakeOn === "fitting" ? protocol?.opening : undefined;
    if (protocol?.clientFirst || (mapping.wakeOn !== "connect" && !opening)) return;
    const onNews = () => this.onLaneNews();
    const lane = listener.giveTo((server) => lanes.take(server, { rooms, opening, onNews }));
    if (lane) this.lanes.add(mapping, lane);
  }

  /** Nothing is asked of core any more, and nothing of it is performed. */
  stop(): void {
    this.phase = "stopped";
    this.cancelAlarm();
    this.lanes.discard();
  }

  /** From here on nothing is suspended. */
  drain(): void {
    this.dispatch({ type: "drain" });
  }

  get census(): Census {
    const { held, spliced } = this.lanes.census;
    return { held: this.live.held.size + held, spliced: this.live.spliced.size + spliced };
  }

  /** Those that no lane has. */
  get ownClients(): number {
    return this.live.held.size + this.live.spliced.size;
  }

  /** A write whose outcome a drain should wait for. */
  get writing(): boolean {
    return this.state.write !== undefined;
  }

  report(): TargetReport {
    const report = describe(this.state, this.moment().now);
    // Clients that have not said what would wake the target are held all the same, and core knows nothing of them.
    const own = [...this.silence.conditions(), ...this.wakeTimes.conditions()];
    return { ...report, ...this.census, conditions: [...report.conditions, ...own] };
  }

  /** Ends every client. */
  cut(): void {
    for (const connection of [...this.live.held, ...this.live.spliced]) connection.cut();
    this.lanes.cut();
  }

  /** Takes over a client that was admitted. */
  take(client: Client, mapping: PortMapping): void {
    const { settings, clock, plane, budget } = this.deps;
    const protocol = this.protocols.get(mapping.listen);
    if (!protocol) throw new Error(`port ${mapping.listen} is not one of this target's`);
    // What a session keeps for its end must not keep the socket, which is the plane's by then.
    const { id, socket, address, begun } = client;
    const connection: Connection = new Connection(socket, {
      id,
      address: { host: settings.host, port: mapping.target },
      settings,
      protocol,
      wakeOn: mapping.wakeOn,
      clock,
      plane,
      budget,
      dials: this.dials,
      begun,
      report: (report) => this.onReport(connection, mapping, address, report),
    });
    this.live.held.add(connection);
    if (connection.stage === "waiting") this.arrived(connection, mapping.listen);
  }

  private arrived(connection: Connection, port: number): void {
    this.enqueue(() => {
      this.ledger.arrive(connection, port);
      return { type: "arrived", port };
    });
    if (!connection.hasBegun) return;
    this.enqueue(() => {
      connection.dropBegun();
      return undefined;
    });
  }

  private onReport(connection: Connection, mapping: PortMapping, address: string, report: Report): void {
    const port = mapping.listen;
    switch (report.type) {
      case "arrived":
        this.arrived(connection, port);
        break;
      case "unfit":
      case "quiet":
        // Nothing that wakes a target; one that is there may answer what it likes.
        if (this.state.ports.some((each) => each.port === port && each.proved))
          connection.arrive({ stranger: true });
        else if (report.type === "unfit") connection.refuse();
        break;
      case "through":
        this.live.held.delete(connection);
        this.live.spliced.add(connection);
        break;
      case "spliced":
        this.live.held.delete(connection);
        this.live.spliced.add(connection);
        this.lanes.learn(port, report.address);
        this.enqueue(() => {
          this.ledger.move(connection, "spliced");
          return { type: "spliced", port };
        });
        break;
      case "returned":
        this.live.spliced.delete(connection);
        this.live.held.add(connection);
        this.enqueue(() => {
          this.ledger.move(connection, "waiting");
          return { type: "returned", port, failure: report.failure };
        });
        break;
      case "mute":
        this.enqueue(() => (connection.stage === "connecting" ? { type: "mute", port } : undefined));
        break;
      case "hold-ending":
        this.enqueue(() => {
          const waits = connection.stage === "waiting" && this.ledger.stageOf(connection) === "waiting";
          return waits ? { type: "hold-ending", port, id: connection.id } : undefined;
        });
        break;
      case "finished":
        this.live.held.delete(connection);
        this.live.spliced.delete(connection);
        if (report.finish.reason === "hold_expired") this.wakeTimes.expired();
        this.deps.onFinish(mapping, () => address, report.finish);
        this.enqueue(() => {
          const from = this.ledger.leave(connection);
          const { unanswered, stranger } = report.finish;
          return from === undefined ? undefined : { type: "left", port, from, unanswered, stranger };
        });
        break;
      default:
        report satisfies never;
    }
  }

  private onLaneEnd(mapping: PortMapping, end: LaneEnd): void {
    this.deps.onFinish(mapping, end.address, passed(end));
  }

  private onLaneNews(): void {
    if (this.phase === "stopped") this.lanes.discard();
    // Every turn of the queue begins with what the lanes have to tell.
    else this.enqueue(() => undefined);
  }

  private dispatch(event: Event): void {
    this.enqueue(() => event);
  }

  private enqueue(next: () => Event | undefined): void {
    if (this.phase === "stopped") return;
    this.queue.push(next);
    if (this.phase === "stepping") return;
    this.phase = "stepping";
    for (let make = this.queue.shift(); make; make = this.queue.shift()) {
      this.hearLanes();
      const event = make();
      if (event) this.step(event);
    }
    // Stopped by what one of them led to.
    if (this.phase !== "stepping") return;
    this.phase = "idle";
    this.arm();
    this.deps.onChange?.();
    this.lanes.open(this.openPorts, Math.min(this.dials.free, this.settings.maxHeld - this.live.held.size));
  }

  /** Nobody passes while core decides, and it decides knowing who has passed. */
  private hearLanes(): void {
    const { events, handed } = this.lanes.shut();
    for (const event of events) this.step(event);
    if (events.length > 0) this.dials.advance();
    // Who was handed over counts twice once he arrives, and still does if he was refused: another look puts it right.
    if (handed > 0) this.queue.push(() => undefined);
  }

  private step(event: Event): void {
    try {
      const { state, effects, lanes, alarmAt } = step(this.config, this.state, event, this.moment());
      this.state = state;
      this.openPorts = lanes;
      this.alarmAt = alarmAt;
      for (const effect of effects) this.perform(effect);
    } catch (error) {
      // A fault in deciding must not end the sessions of this target, nor those of others.
      this.deps.log.event("internal_error", { where: event.type, error: stackOf(error) });
      this.alarmAt = this.now + AFTER_FAULT_MS;
      this.openPorts = [];
    }
  }

  private moment(): { now: number; random: number } {
    this.now = Math.max(this.now, this.deps.clock.now());
    return { now: this.now, random: this.deps.random() };
  }

  private arm(): void {
    this.cancelAlarm();
    this.cancelAlarm = () => {};
    const at = this.alarmAt;
    if (at === undefined) return;
    this.cancelAlarm = this.deps.clock.timer(at - this.now, () => {
      // A timer may come a fraction of a millisecond before its time; for core it is then time all the same.
      this.now = Math.max(this.now, at);
      this.dispatch({ type: "tick" });
    });
  }

  private perform(effect: Effect): void {
    const { api, log } = this.deps;
    switch (effect.type) {
      case "read":
        this.ask(api.readWorkload(), (snapshot) => ({ type: "read", snapshot }), "read-failed");
        break;
      case "read-status":
        this.ask(api.readDeployment(), (snapshot) => ({ type: "status", snapshot }), "status-failed");
        break;
      case "write":
        this.ask(
          api.writeSuspend(effect.suspend, effect.version),
          (version) => ({ type: "written", version }),
          "write-failed",
        );
        break;
      case "probe":
        this.probe(effect.port);
        break;
      case "open":
        for (const connection of this.ledger.waiting(effect.port)) this.connect(connection);
        break;
      case "connect-anyway": {
        const connection = this.ledger.waiting(effect.port).find(({ id }) => id === effect.id);
        if (connection) this.connect(connection);
        break;
      }
      case "recall":
        for (const connection of this.ledger.connecting(effect.port)) connection.recall(effect.begunBefore);
        this.lanes.recall(effect.port);
        for (const connection of this.live.held) connection.dropBegun();
        break;
      case "drop":
        for (const connection of this.ledger.held()) connection.drop(`${effect.reason}: ${effect.message}`);
        break;
      case "note":
        log.note(effect.note);
        this.noted(effect.note);
        break;
      default:
        effect satisfies never;
    }
  }

  /** What the runtime makes of the core's notes beside their lines. */
  private noted(note: Note): void {
    const { log } = this.deps;
    if (note.event === "wake") this.wakeTimes.began();
    if (note.event === "ready") {
      const slow = this.wakeTimes.ready(note.tookMs, this.live.held.size);
      if (slow) log.event("wake_near_max_hold", { ...slow });
    }
    if (note.event === "wake_timeout") {
      for (const silent of this.silence.attemptOver()) log.event("target_silent", silent);
    }
  }

  private connect(connection: Connection): void {
    this.ledger.move(connection, "connecting");
    connection.connect();
  }

  private ask<T>(
    answer: Promise<Answer<T>>,
    success: (value: T) => Event,
    failure: "read-failed" | "status-failed" | "write-failed",
  ): void {
    const failed = (why: CallFailure) => this.dispatch({ type: failure, failure: why });
    answer.then(
      (result) => {
        if (result.ok) this.dispatch(success(result.value));
        else failed(result.failure);
      },
      (error: unknown) => failed({ kind: "broken", message: String(error) }),
    );
  }

  private probe(port: number): void {
    const mapping = this.mappings.get(port);
    if (!mapping) return;
    const startedAt = this.now;
    const { phase, generation } = this.state;
    const generationVersion = phase === "starting" || phase === "awake" ? generation.version : undefined;
    const { outcome, settle } = this.prober.probe(mapping, this.ledger.waiting(port), generationVersion);
    void outcome.then((found) => {
      this.silence.record(port, found);
      this.dispatch({ type: "probed", port, startedAt, outcome: found });
      settle?.();
    });
  }
}
