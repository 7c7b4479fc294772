import type { Socket } from "node:net";
import type { JsonObject, ResourceKey } from "../model.ts";
import { boolean, lastSegment, list, number, object, text } from "../platform/json.ts";
import { plainAddress } from "./addresses.ts";
import { keepMute, refuseAfterAccept, relayTo, sidecarAddress } from "./connect.ts";
import { admitsExternally, type Firewall } from "./firewall.ts";
import { Listener } from "./listener.ts";
import type { MeshContext, PickedReplica } from "./mesh.ts";

export interface BalancedPort {
  externalPort: number;
  containerPort: number;
  protocol: "TCP" | "UDP";
  scheme: string;
}

export interface DirectLoadBalancer {
  enabled: boolean;
  ports: BalancedPort[];
  ipSet: string | undefined;
}

export function readDirectLoadBalancer(spec: JsonObject, firstPort: number | undefined): DirectLoadBalancer {
  const direct = object(object(spec.loadBalancer).direct);
  const ipSet = text(direct.ipSet);
  return {
    enabled: boolean(direct.enabled) ?? false,
    ports: list(direct.ports)
      .map(object)
      .map((port) => {
        const externalPort = number(port.externalPort) ?? 0;
        return {
          externalPort,
          containerPort: number(port.containerPort) ?? firstPort ?? externalPort,
          protocol: text(port.protocol) === "UDP" ? ("UDP" as const) : ("TCP" as const),
          scheme: text(port.scheme) ?? "https",
        };
      }),
    ipSet: ipSet === undefined ? undefined : lastSegment(ipSet),
  };
}

export interface BalancedWorkload {
  key: ResourceKey;
  location: string;
  direct(): DirectLoadBalancer;
  firewall(): Firewall;
  pick(containerPort: number): PickedReplica | undefined;
  /** A person's wish for a local port. */
  preferredPort(externalPort: number): number | undefined;
}

/** One workload's direct load balancer in one location: a local port for every external one, kept for its life. */
export class LoadBalancer {
  readonly #workload: BalancedWorkload;
  readonly #context: MeshContext;
  readonly #listeners = new Map<number, Listener>();

  constructor(workload: BalancedWorkload, context: MeshContext) {
    this.#workload = workload;
    this.#context = context;
  }

  refresh(): Promise<void> {
    const direct = this.#workload.direct();
    const work: Promise<void>[] = [];
    const tcp = direct.enabled ? direct.ports.filter((port) => port.protocol === "TCP") : [];
    const wanted = new Map(tcp.map((port) => [port.externalPort, port]));
    for (const [externalPort, listener] of this.#listeners) {
      if (wanted.has(externalPort)) continue;
      // Kept, closed: the same local port again, should it come back.
      for (const socket of listener.sockets) socket.destroy();
      work.push(listener.close());
    }
    for (const [externalPort, port] of wanted) {
      let listener = this.#listeners.get(externalPort);
      if (listener === undefined) {
        const preferred = this.#workload.preferredPort(externalPort) ?? 0;
        listener = new Listener("127.0.0.1", preferred, (socket) => this.#accept(externalPort, socket));
        this.#listeners.set(externalPort, listener);
      }
      const refuse =
        this.#context.switches.loadBalancerEmpty === "refuse" &&
        this.#workload.pick(port.containerPort) === undefined;
      work.push(refuse && listener.port !== 0 ? listener.close() : listener.open());
    }
    return Promise.all(work).then(
      () => {},
      (error: unknown) =>
        this.#context.report(`load balancer of ${this.#workload.key.name}: ${String(error)}`),
    );
  }

  /** The local port behind an external one, while it is open. */
  localPort(externalPort: number): number | undefined {
    const port = this.#listeners.get(externalPort)?.port;
    return port === 0 ? undefined : port;
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#listeners.values()].map((listener) => listener.dispose()));
    this.#listeners.clear();
  }

  #accept(externalPort: number, socket: Socket): void {
    const { clock, recorder, switches } = this.#context;
    const port = this.#workload.direct().ports.find((item) => item.externalPort === externalPort);
    const from = plainAddress(socket.remoteAddress);
    const admitted = admitsExternally(this.#workload.firewall(), from);
    const picked = admitted && port !== undefined ? this.#workload.pick(port.containerPort) : undefined;
    const record = recorder.open({
      workload: this.#workload.key,
      via: "load-balancer",
      location: this.#workload.location,
      port: externalPort,
      from,
      caller: this.#context.callerOf(from)?.workload,
      at: clock.now(),
      outcome: !admitted ? "denied" : picked === undefined ? "unavailable" : "relayed",
      replica: picked?.name,
      generation: picked?.generation,
    });
    if (picked === undefined || port === undefined) {
      const silent = (admitted ? switches.loadBalancerEmpty : switches.denied) === "silent";
      if (silent) {
        keepMute(socket, record, recorder, clock);
        return;
      }
      refuseAfterAccept(socket, "reset", record, recorder, clock);
      return;
    }
    const localAddress = switches.loadBalancerPeer === "client" ? from : sidecarAddress;
    relayTo(socket, picked, { port: port.containerPort, localAddress }, record, {
      recorder,
      clock,
      silenceCutMs: undefined,
    });
  }
}
