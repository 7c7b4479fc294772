import type { Socket } from "node:net";
import type { Clock, ResourceKey } from "../model.ts";
import type { MuteBehaviour, PlatformSwitches } from "../platform/settings.ts";
import type { PortSpec } from "../platform/spec.ts";
import { plainAddress } from "./addresses.ts";
import { keepMute, refuseAfterAccept, relayTo, sidecarAddress } from "./connect.ts";
import { admitsInternally, type Firewall } from "./firewall.ts";
import { Listener } from "./listener.ts";
import type { Outcome, RecordedConnection, Recorder } from "./recorder.ts";
import type { Relay } from "./relay.ts";

/** Which replicas a name stands for: all, those of one location, or a single one. */
export interface MeshScope {
  location?: string;
  index?: number;
}

export interface PickedReplica {
  name: string;
  generation: number;
  location: string;
  address: string;
  /** The relay ends with the replica, unless it is detached because it ended before. */
  attach(relay: Relay): void;
  detach(relay: Relay): void;
}

export interface MeshCaller {
  workload: ResourceKey;
  location: string;
}

/** What a mesh listener asks of the platform, at the moment of each connection. */
export interface MeshWorkload {
  key: ResourceKey;
  ports(): PortSpec[];
  firewall(): Firewall;
  muteBehaviour(): MuteBehaviour;
  pick(port: number, scope: MeshScope, callerLocation: string | undefined): PickedReplica | undefined;
}

export interface MeshContext {
  clock: Clock;
  recorder: Recorder;
  switches: PlatformSwitches;
  callerOf(address: string): MeshCaller | undefined;
  report(message: string): void;
}

/** One name's address: a listener for every declared port, and none for any other. */
export class MeshEndpoint {
  readonly address: string;
  readonly scope: MeshScope;
  readonly #workload: MeshWorkload;
  readonly #context: MeshContext;
  readonly #listeners = new Map<number, Listener>();
  #turn = Promise.resolve();

  constructor(address: string, scope: MeshScope, workload: MeshWorkload, context: MeshContext) {
    this.address = address;
    this.scope = scope;
    this.#workload = workload;
    this.#context = context;
  }

  /** Opens and closes ports as the document and the replicas have it now; settles when that is so. */
  refresh(): Promise<void> {
    const declared = new Set(this.#workload.ports().map((port) => port.number));
    const work: Promise<void>[] = [];
    for (const [port, listener] of this.#listeners) {
      if (declared.has(port)) continue;
      this.#listeners.delete(port);
      work.push(listener.dispose());
    }
    for (const port of declared) {
      let listener = this.#listeners.get(port);
      if (listener === undefined) {
        listener = new Listener(this.address, port, (socket) => this.#accept(port, socket));
        this.#listeners.set(port, listener);
      }
      const open =
        this.#workload.muteBehaviour() !== "refuse" ||
        this.#workload.pick(port, this.scope, this.scope.location) !== undefined;
      work.push(open ? listener.open() : listener.close());
    }
    this.#turn = Promise.all(work).then(
      () => {},
      (error: unknown) => this.#context.report(`mesh address ${this.address}: ${String(error)}`),
    );
    return this.#turn;
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#listeners.values()].map((listener) => listener.dispose()));
    this.#listeners.clear();
  }

  #accept(port: number, socket: Socket): void {
    const { clock, recorder, switches } = this.#context;
    const from = plainAddress(socket.remoteAddress);
    const caller = this.#context.callerOf(from);
    const admitted =
      admitsInternally(this.#workload.firewall(), this.#workload.key, caller?.workload) ||
      (caller === undefined && switches.unknownCallers === "allow");
    const picked = admitted ? this.#workload.pick(port, this.scope, caller?.location) : undefined;
    const behaviour = this.#workload.muteBehaviour();
    const record = recorder.open({
      workload: this.#workload.key,
      via: "mesh",
      location: picked?.location ?? this.scope.location ?? caller?.location ?? "",
      port,
      from,
      caller: caller?.workload,
      at: clock.now(),
      outcome: admitted ? outcomeOf(picked, behaviour) : "denied",
      replica: picked?.name,
      generation: picked?.generation,
    });
    if (!admitted) {
      if (switches.denied === "silent") {
        keepMute(socket, record, recorder, clock);
        return;
      }
      refuseAfterAccept(socket, "reset", record, recorder, clock);
      return;
    }
    if (picked === undefined) {
      this.#unanswered(socket, port, behaviour, record);
      return;
    }
    const localAddress = switches.meshPeer === "client" ? from : sidecarAddress;
    relayTo(socket, picked, { port, localAddress }, record, {
      recorder,
      clock,
      silenceCutMs: switches.silenceCutMs,
    });
  }

  #unanswered(socket: Socket, port: number, behaviour: MuteBehaviour, record: RecordedConnection): void {
    const { clock, recorder } = this.#context;
    if (behaviour === "close") {
      refuseAfterAccept(socket, "close", record, recorder, clock);
      return;
    }
    if (behaviour !== "silent") {
      refuseAfterAccept(socket, "reset", record, recorder, clock);
      return;
    }
    const protocol = this.#workload.ports().find((item) => item.number === port)?.protocol;
    if (protocol === "http") socket.once("data", () => socket.end(noHealthyUpstream));
    keepMute(socket, record, recorder, clock);
  }
}

/** On a port declared as HTTP the caller's sidecar speaks HTTP itself, so it has an answer of its own. */
const noHealthyUpstream =
  "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 19\r\ncontent-type: text/plain\r\n" +
  "server: envoy\r\nconnection: close\r\n\r\nno healthy upstream";

function outcomeOf(picked: PickedReplica | undefined, behaviour: MuteBehaviour): Outcome {
  if (picked !== undefined) return "relayed";
  if (behaviour === "silent") return "mute";
  return behaviour === "close" ? "closed" : "reset";
}
