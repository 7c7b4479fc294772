import type { PickedReplica } from "../network/mesh.ts";
import type { PlatformContext } from "./context.ts";
import type { LocationRuntime } from "./location.ts";
import type { MeshRequest } from "./network.ts";
import { balancedReplicas, meshReplicas } from "./transitions/select.ts";
import { isReady, type Replica } from "./transitions/state.ts";

/** Which replica of a workload takes the next connection. */
export class Routing {
  readonly #locations: ReadonlyMap<string, LocationRuntime>;
  readonly #context: PlatformContext;
  readonly #turns = new Map<number, number>();

  constructor(locations: ReadonlyMap<string, LocationRuntime>, context: PlatformContext) {
    this.#locations = locations;
    this.#context = context;
  }

  /** Ready replicas where the caller is, then ready ones elsewhere, then those that still drain, in that order. */
  forMesh({ port, scope, callerLocation }: MeshRequest): PickedReplica | undefined {
    const places = [...this.#locations.values()]
      .filter((place) => scope.location === undefined || place.name === scope.location)
      .filter((place) => place.name === callerLocation || this.#discoverable(place))
      .sort((a, b) => Number(b.name === callerLocation) - Number(a.name === callerLocation));
    const candidates = places.map((place) => ({
      place,
      replicas: meshReplicas(place.state, port, this.#context.switches.draining).filter(
        (replica) => scope.index === undefined || replica.index === scope.index,
      ),
    }));
    const choice =
      candidates.find(({ replicas }) => replicas.some(isReady)) ??
      candidates.find(({ replicas }) => replicas.length > 0);
    return choice === undefined ? undefined : this.#next(choice.place, choice.replicas, port);
  }

  forBalancer(location: string, containerPort: number): PickedReplica | undefined {
    const place = this.#locations.get(location);
    if (place === undefined) return undefined;
    const { options, switches } = this.#context;
    const replicas = balancedReplicas(place.state, containerPort, options.clock.now(), switches.withdrawalMs);
    return this.#next(place, replicas, containerPort);
  }

  /** Whether other locations still know of this one. */
  #discoverable(place: LocationRuntime): boolean {
    return !(this.#context.switches.localSuspendTrap && place.state.localSuspends >= 2);
  }

  /** In turn. */
  #next(place: LocationRuntime, replicas: Replica[], port: number): PickedReplica | undefined {
    if (replicas.length === 0) return undefined;
    const turn = this.#turns.get(port) ?? 0;
    this.#turns.set(port, turn + 1);
    const replica = replicas[turn % replicas.length];
    return replica === undefined ? undefined : place.picked(replica);
  }
}
