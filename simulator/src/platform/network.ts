import { type BalancedPort, LoadBalancer } from "../network/load-balancer.ts";
import { type MeshContext, MeshEndpoint, type MeshScope } from "../network/mesh.ts";
import type { PlatformContext } from "./context.ts";
import type { WorkloadRuntime } from "./workload.ts";

export interface MeshRequest {
  port: number;
  scope: MeshScope;
  callerLocation: string | undefined;
}

/** A workload's addresses and open ports: one mesh address a name, one load balancer a location. */
export class WorkloadNetwork {
  readonly #workload: WorkloadRuntime;
  readonly #context: PlatformContext;
  readonly #mesh: MeshContext;
  readonly #endpoints = new Map<string, MeshEndpoint>();
  readonly #balancers = new Map<string, LoadBalancer>();
  #settled: Promise<void> = Promise.resolve();

  constructor(workload: WorkloadRuntime, context: PlatformContext) {
    this.#workload = workload;
    this.#context = context;
    this.#mesh = {
      clock: context.options.clock,
      recorder: context.recorder,
      switches: context.switches,
      callerOf: (address) => context.callers.at(address),
      report: (text) =>
        context.log({
          workload: workload.key,
          location: "",
          replica: "",
          container: "",
          stream: "platform",
          text,
        }),
    };
  }

  /** Brings listeners in line with the document and the replicas. A load balancer's port is known only then. */
  refresh(onSettled: () => void): void {
    const locations = [...this.#workload.locations.keys()];
    if (locations.length > 0) this.#endpoint({});
    for (const location of locations) {
      this.#endpoint({ location });
      this.#balancer(location);
    }
    if (this.#workload.replicaDirect()) this.#replicaEndpoints();
    const before = this.#settled;
    const work = [...this.#endpoints.values(), ...this.#balancers.values()].map((item) => item.refresh());
    this.#settled = Promise.all([before, ...work]).then(onSettled);
  }

  /** Mesh and load balancer listen where they should. */
  settled(): Promise<void> {
    return this.#settled;
  }

  /** The address that a name leads to; `undefined` where there is no such name. */
  address(scope: MeshScope): string | undefined {
    return this.#endpoints.get(idOf(scope))?.address;
  }

  openBalancers(): { location: string; port: BalancedPort; localPort: number }[] {
    const direct = this.#workload.direct();
    if (!direct.enabled) return [];
    return [...this.#balancers].flatMap(([location, balancer]) =>
      direct.ports.flatMap((port) => {
        const localPort = balancer.localPort(port.externalPort);
        return localPort === undefined ? [] : [{ location, port, localPort }];
      }),
    );
  }

  async dispose(): Promise<void> {
    await Promise.all(
      [...this.#endpoints.values(), ...this.#balancers.values()].map((item) => item.dispose()),
    );
    this.#endpoints.clear();
    this.#balancers.clear();
  }

  #replicaEndpoints(): void {
    for (const { name, state } of this.#workload.locations.values()) {
      for (const { index } of state.replicas) {
        this.#endpoint({ location: name, index });
        this.#endpoint({ index });
      }
    }
  }

  #endpoint(scope: MeshScope): void {
    const id = idOf(scope);
    if (this.#endpoints.has(id)) return;
    const workload = this.#workload;
    const source = {
      key: workload.key,
      ports: () => workload.ports(),
      firewall: () => workload.firewall(),
      muteBehaviour: () => workload.muteBehaviour(),
      pick: (port: number, place: MeshScope, callerLocation: string | undefined) =>
        workload.routing.forMesh({ port, scope: place, callerLocation }),
    };
    this.#endpoints.set(id, new MeshEndpoint(this.#context.block.allocate(), scope, source, this.#mesh));
  }

  #balancer(location: string): void {
    if (this.#balancers.has(location)) return;
    const workload = this.#workload;
    const source = {
      key: workload.key,
      location,
      direct: () => workload.direct(),
      firewall: () => workload.firewall(),
      pick: (containerPort: number) => workload.routing.forBalancer(location, containerPort),
      preferredPort: (externalPort: number) =>
        this.#context.options.loadBalancerPort?.(workload.key, externalPort, location),
    };
    this.#balancers.set(location, new LoadBalancer(source, this.#mesh));
  }
}

function idOf(scope: MeshScope): string {
  return `${scope.location ?? "*"}/${scope.index ?? "*"}`;
}
