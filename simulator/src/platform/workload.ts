import type { JsonObject, Resource, ResourceKey } from "../model.ts";
import { type Firewall, readFirewall } from "../network/firewall.ts";
import { type DirectLoadBalancer, readDirectLoadBalancer } from "../network/load-balancer.ts";
import type { PlatformContext } from "./context.ts";
import type { WorkloadControls } from "./controls.ts";
import { boolean, lastSegment, list, object, text } from "./json.ts";
import { LocationRuntime } from "./location.ts";
import { WorkloadNetwork } from "./network.ts";
import { Routing } from "./routing.ts";
import type { MuteBehaviour } from "./settings.ts";
import { type PortSpec, readLocationSpec } from "./spec.ts";
import { deploymentDocument } from "./status/deployments.ts";
import { History } from "./status/history.ts";
import {
  canonicalEndpoint,
  publicEndpoint,
  type WorkloadFacts,
  workloadStatus,
} from "./status/workload-status.ts";

interface Answers {
  deployments: JsonObject[];
  workload: { status: JsonObject; health: JsonObject };
}

/** The longest status lag that can be asked for. */
const longestLagMs = 60_000;

/** One workload document and everything that runs because of it. */
export class WorkloadRuntime {
  readonly key: ResourceKey;
  readonly locations = new Map<string, LocationRuntime>();
  readonly network: WorkloadNetwork;
  readonly routing: Routing;
  readonly controls: WorkloadControls;
  document: Resource;
  readonly #context: PlatformContext;
  readonly #onChange: (key: ResourceKey) => void;
  readonly #history = new History<Answers>(longestLagMs);
  readonly #timers = new Set<() => void>();
  #firewall: Firewall;
  #phase: "live" | "leaving" | "gone" = "live";

  constructor(
    key: ResourceKey,
    document: Resource,
    controls: WorkloadControls,
    context: PlatformContext,
    onChange: (key: ResourceKey) => void,
  ) {
    this.key = key;
    this.document = document;
    this.controls = controls;
    this.#context = context;
    this.#onChange = onChange;
    this.#firewall = readFirewall(object(document.spec));
    this.routing = new Routing(this.locations, context);
    this.network = new WorkloadNetwork(this, context);
  }

  get phase(): "live" | "leaving" | "gone" {
    return this.#phase;
  }

  get type(): string {
    return text(object(this.document.spec).type) ?? "serverless";
  }

  /** The document or its GVC was written. */
  update(document: Resource): void {
    this.document = document;
    const { switches } = this.#context;
    this.#later(switches.firewallLagMs, () => {
      this.#firewall = readFirewall(object(document.spec));
    });
    this.#later(switches.reactionMs, () => this.#act());
  }

  #act(): void {
    if (this.#phase !== "live") return;
    const { options, switches } = this.#context;
    const wanted = this.#wantedLocations();
    const gvc = this.gvc();
    for (const location of [...this.locations.values()]) {
      if (!wanted.includes(location.name)) location.dispatch({ type: "deleted" });
    }
    for (const name of wanted) {
      const location = this.locations.get(name) ?? this.#location(name);
      this.locations.set(name, location);
      const spec = readLocationSpec(this.document, gvc?.version ?? 1, name, {
        graceMs: options.graceMs,
        probeTimeScale: options.probeTimeScale ?? 1,
        maxReplicas: options.maxReplicas ?? 5,
      });
      location.dispatch({ type: "wanted", spec, suspendMovesVersion: switches.suspendMovesVersion });
    }
    this.changed();
  }

  /** The document is gone: names and load balancers at once, replicas in their ordinary way. */
  async leave(): Promise<void> {
    this.#phase = "leaving";
    this.controls.boot.releaseAll();
    for (const location of this.locations.values()) location.dispatch({ type: "deleted" });
    await this.network.dispose();
    this.changed();
  }

  gvc(): Resource | undefined {
    return this.#context.options.store.get({ org: this.key.org, kind: "gvc", name: this.key.gvc ?? "" });
  }

  #wantedLocations(): string[] {
    const placement = object(object(this.gvc()?.spec).staticPlacement);
    return list(placement.locationLinks).map((link) => lastSegment(String(link)));
  }

  #location(name: string): LocationRuntime {
    const host = {
      key: this.key,
      boot: this.controls.boot,
      failure: (location: string) => this.controls.failure(location),
      globalEndpoint: () => canonicalEndpoint(this.#facts()),
      onChange: () => this.changed(),
    };
    return new LocationRuntime(name, host, this.#context);
  }

  failureChanged(location: string | undefined): void {
    for (const runtime of [...this.locations.values()]) {
      if (location === undefined || runtime.name === location) runtime.failureChanged();
    }
  }

  ports(): PortSpec[] {
    const spec = [...this.locations.values()][0]?.state.spec;
    return (spec?.containers ?? []).flatMap((container) => container.ports);
  }

  firewall(): Firewall {
    return this.#firewall;
  }

  direct(): DirectLoadBalancer {
    return readDirectLoadBalancer(object(this.document.spec), this.ports()[0]?.number);
  }

  replicaDirect(): boolean {
    return (
      this.type === "stateful" &&
      boolean(object(object(this.document.spec).loadBalancer).replicaDirect) === true
    );
  }

  muteBehaviour(): MuteBehaviour {
    return this.controls.mute ?? this.#context.switches.suspendedMesh;
  }

  /** Everything that an outsider could notice may have changed. */
  changed(): void {
    for (const location of [...this.locations.values()]) {
      const { state } = location;
      if (state.spec === undefined && state.replicas.length === 0) this.locations.delete(location.name);
    }
    if (this.#phase === "leaving" && this.locations.size === 0) this.#phase = "gone";
    if (this.#phase === "live") this.network.refresh(() => this.#remember());
    this.#remember();
    this.#onChange(this.key);
  }

  #remember(): void {
    this.#history.add(this.#context.options.clock.now(), this.#answers());
  }

  answers(): Answers {
    const { options, switches } = this.#context;
    if (switches.statusLagMs === 0) return this.#answers();
    return this.#history.at(options.clock.now() - switches.statusLagMs) ?? this.#answers();
  }

  #answers(): Answers {
    const { options, switches } = this.#context;
    const facts = this.#facts();
    const states = [...this.locations.values()].map(({ state }) => state);
    const lastModified = this.document.lastModified;
    return {
      deployments: states.map((state) =>
        deploymentDocument(
          state,
          { endpoint: publicEndpoint(facts), remote: options.apiUrl(), lastModified },
          switches,
        ),
      ),
      workload: workloadStatus(states, facts),
    };
  }

  #facts(): WorkloadFacts {
    const gvc = this.gvc();
    const balancers = this.network.openBalancers();
    const first = this.direct().ports[0];
    const balanced = balancers.find(({ port }) => port.externalPort === first?.externalPort);
    return {
      key: this.key,
      parentId: gvc?.id ?? "",
      gvcAlias: text(object(gvc).alias) ?? this.key.gvc ?? "",
      balanced,
      balancers,
      replicaDirect: this.replicaDirect(),
    };
  }

  #later(delayMs: number, run: () => void): void {
    if (delayMs === 0) {
      run();
      return;
    }
    const cancel = this.#context.options.clock.after(delayMs, () => {
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }

  async dispose(): Promise<void> {
    this.#phase = "gone";
    for (const cancel of this.#timers) cancel();
    this.controls.boot.releaseAll();
    await Promise.all([...this.locations.values()].map((location) => location.dispose()));
    await this.network.dispose();
  }
}
