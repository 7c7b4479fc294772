import type { ResourceChange, ResourceKey } from "../model.ts";
import { readName } from "../network/names.ts";
import type { PlatformContext } from "./context.ts";
import { WorkloadControls } from "./controls.ts";
import type { LocationRuntime } from "./location.ts";
import { isLive, type Replica } from "./transitions/state.ts";
import { WorkloadRuntime } from "./workload.ts";

export class UnknownReplica extends Error {
  constructor(replica: string, location: string) {
    super(`replica ${replica} does not exist in location ${location}`);
    this.name = "UnknownReplica";
  }
}

/** All workloads: those that have a document, and those that only their grace period keeps. */
export class Fleet {
  readonly #workloads = new Map<string, WorkloadRuntime>();
  readonly #leaving = new Set<WorkloadRuntime>();
  readonly #controls = new Map<string, WorkloadControls>();
  readonly #onChange: (key: ResourceKey) => void;

  constructor(onChange: (key: ResourceKey) => void) {
    this.#onChange = onChange;
  }

  all(): WorkloadRuntime[] {
    return [...this.#workloads.values()];
  }

  find(key: ResourceKey): WorkloadRuntime | undefined {
    return this.#workloads.get(idOf(key));
  }

  get(key: ResourceKey): WorkloadRuntime {
    const workload = this.find(key);
    if (workload === undefined) throw new Error(`there is no workload ${idOf(key)}`);
    return workload;
  }

  /** Also one that has no document any more and still drains. */
  findLast(key: ResourceKey): WorkloadRuntime | undefined {
    return this.find(key) ?? [...this.#leaving].find((item) => idOf(item.key) === idOf(key));
  }

  controls(key: ResourceKey): WorkloadControls {
    const id = idOf(key);
    const controls = this.#controls.get(id) ?? new WorkloadControls();
    this.#controls.set(id, controls);
    return controls;
  }

  replica(key: ResourceKey, location: string, name: string): { place: LocationRuntime; found: Replica } {
    const place = this.find(key)?.locations.get(location);
    const found = place?.state.replicas.find((item) => item.name === name && isLive(item));
    if (place === undefined || found === undefined) throw new UnknownReplica(name, location);
    return { place, found };
  }

  /** The mesh address behind a name, as `caller` may use it. */
  resolve(name: string, caller: ResourceKey | undefined): string | undefined {
    for (const { workload, gvc, location, index } of readName(name, caller?.gvc)) {
      const scope = {
        ...(location === undefined ? {} : { location }),
        ...(index === undefined ? {} : { index }),
      };
      for (const { key, network } of this.#workloads.values()) {
        if (key.name !== workload || key.gvc !== gvc) continue;
        if (caller !== undefined && key.org !== caller.org) continue;
        const address = network.address(scope);
        if (address !== undefined) return address;
      }
    }
    return undefined;
  }

  documentChanged(change: ResourceChange, context: PlatformContext): void {
    const { kind, org, name } = change.key;
    if (kind === "workload") this.#workloadChanged(change, context);
    if (kind === "gvc") {
      const inGvc = this.all().filter(({ key }) => key.org === org && key.gvc === name);
      for (const workload of inGvc) workload.update(workload.document);
    }
    // What a missing secret kept from starting is tried again when a secret, or the right to it, may be there.
    if (["secret", "policy", "identity"].includes(kind)) this.#retryAfterSecrets(org);
  }

  #workloadChanged({ key, after }: ResourceChange, context: PlatformContext): void {
    const before = this.find(key);
    // A document of another id is another workload, made before anybody noticed that the first was gone.
    if (before !== undefined && before.document.id !== after?.id) this.#leave(before);
    if (after === undefined) return;
    const workload =
      this.find(key) ??
      new WorkloadRuntime(key, after, this.controls(key), context, () => {
        if (workload.phase === "gone") this.#leaving.delete(workload);
        this.#onChange(key);
      });
    this.#workloads.set(idOf(key), workload);
    workload.update(after);
  }

  #leave(workload: WorkloadRuntime): void {
    this.#workloads.delete(idOf(workload.key));
    this.#leaving.add(workload);
    void workload.leave();
  }

  #retryAfterSecrets(org: string): void {
    for (const { key, locations } of this.all()) {
      if (key.org !== org) continue;
      for (const place of locations.values()) {
        const waits = place.state.replicas.some((item) => item.blockedBy?.kind === "secret-missing");
        if (waits) place.dispatch({ type: "unblocked" });
      }
    }
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.all(), ...this.#leaving].map((workload) => workload.dispose()));
  }
}

function idOf(key: ResourceKey): string {
  return `${key.org}/${key.gvc ?? ""}/${key.name}`;
}
