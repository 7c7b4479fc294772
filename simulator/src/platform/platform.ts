import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryEnforcement } from "../images/memory-limit.ts";
import type { JsonObject, Platform, ResourceChange, ResourceKey } from "../model.ts";
import { AddressBlock } from "../network/addresses.ts";
import type { MeshScope } from "../network/mesh.ts";
import { serveNames } from "../network/name-server.ts";
import { type ConnectionFilter, type RecordedConnection, Recorder, sameKey } from "../network/recorder.ts";
import type { BootDelays, BootHold, BootPoint } from "./boot.ts";
import type { PlatformContext } from "./context.ts";
import type { Failure } from "./failures.ts";
import { Fleet, UnknownReplica } from "./fleet.ts";
import {
  type LogLine,
  type MuteBehaviour,
  type PlatformOptions,
  type PlatformSwitches,
  strictSwitches,
} from "./settings.ts";
import { snapshotOf, type WorkloadSnapshot } from "./snapshot.ts";
import { Callers } from "./tokens.ts";
import { isLive } from "./transitions/state.ts";
import { Watchers } from "./watchers.ts";

const keptLogLines = 2000;
const whenTimeoutMs = 20_000;

const memoryWords = {
  cgroup: "memory limits are enforced by the kernel (a cgroup for every process)",
  watch: "memory limits are enforced by looking twice a second: no cgroup of version 2 is writable here",
  none: "memory limits are not enforced on this machine",
};

export function createPlatform(options: PlatformOptions): LocalPlatform {
  return new LocalPlatform(options);
}

/** Runs what the store's workload documents say, and can be driven by hand and by tests. */
export class LocalPlatform implements Platform {
  /** Every open point of the platform. Changes count from the next event on. */
  readonly switches: PlatformSwitches;
  readonly #options: PlatformOptions;
  readonly #callers = new Callers();
  readonly #recorder = new Recorder((key) => this.#watchers.changed(key));
  readonly #fleet = new Fleet((key) => this.#watchers.changed(key));
  readonly #watchers: Watchers<WorkloadSnapshot>;
  readonly #logs: LogLine[] = [];
  readonly #unsubscribe: () => void;
  /** Documents written before `start`. */
  readonly #early: ResourceChange[] = [];
  #context: PlatformContext | undefined;
  #phase: "new" | "running" | "disposed" = "new";

  constructor(options: PlatformOptions) {
    this.#options = options;
    this.switches = { ...strictSwitches, ...options.switches };
    this.#watchers = new Watchers((key) => this.snapshot(key));
    this.#unsubscribe = options.store.subscribe((change) => this.#onChange(change));
  }

  /** Takes addresses and begins to act on documents. Fails where 127.x.y.z cannot be bound. */
  async start(): Promise<void> {
    const block = await AddressBlock.claim();
    const scratch = await mkdtemp(join(tmpdir(), "cpln-simulator-"));
    this.#context = {
      options: this.#options,
      switches: this.switches,
      block,
      callers: this.#callers,
      recorder: this.#recorder,
      scratch,
      log: (line) => this.#log(line),
    };
    serveNames(block.claim, (name, caller) => this.resolve(name, caller));
    this.#phase = "running";
    for (const change of this.#early.splice(0)) this.#onChange(change);
  }

  /** Ends every process and connection, and waits for it. */
  async dispose(): Promise<void> {
    if (this.#phase === "disposed") return;
    this.#phase = "disposed";
    this.#unsubscribe();
    await this.#fleet.dispose();
    this.#watchers.dispose();
    await this.#context?.block.release();
    if (this.#context !== undefined) await rm(this.#context.scratch, { recursive: true, force: true });
  }

  /** What this machine makes of the platform, in words. */
  describe(): string[] {
    const memory =
      this.#options.memoryLimits === "off"
        ? "memory limits are not enforced, as asked"
        : memoryWords[memoryEnforcement()];
    const images = this.#options.images.list().map(({ description }) => `image: ${description}`);
    return [`workloads live at ${this.#running().block.range}`, memory, ...images];
  }

  // What the API asks.

  workloadStatus(key: ResourceKey): { status: JsonObject; health: JsonObject } {
    return this.#fleet.find(key)?.answers().workload ?? { status: {}, health: {} };
  }

  deployments(key: ResourceKey): JsonObject[] {
    return this.#fleet.find(key)?.answers().deployments ?? [];
  }

  replicas(key: ResourceKey, location: string): string[] {
    const place = this.#fleet.find(key)?.locations.get(location);
    return (place?.state.replicas ?? [])
      .filter((replica) => replica.blockedBy?.kind !== "quota" && replica.phase !== "killed")
      .map((replica) => replica.name);
  }

  stopReplica(key: ResourceKey, location: string, replica: string): void {
    const { place, found } = this.#fleet.replica(key, location, replica);
    place.dispatch({ type: "stop-replica", replica: found.id });
  }

  workloadOf(token: string, remoteAddress: string): { workload: ResourceKey; attested: boolean } | undefined {
    return this.#callers.attest(token, remoteAddress);
  }

  // What tests and people drive.

  /** Settles once the workload is as wanted and its listeners are in line with that. */
  async when(
    key: ResourceKey,
    fits: (snapshot: WorkloadSnapshot) => boolean,
    timeoutMs = whenTimeoutMs,
  ): Promise<WorkloadSnapshot> {
    const describe = ({ replicas, version }: WorkloadSnapshot) => JSON.stringify({ version, replicas });
    const seen = await this.#watchers.when(key, fits, { ms: timeoutMs, describe });
    await this.#fleet.find(key)?.network.settled();
    return seen;
  }

  snapshot(key: ResourceKey): WorkloadSnapshot {
    return snapshotOf(key, this.#fleet.findLast(key), this.#recorder);
  }

  /** Every mesh address and load balancer listens as documents have it now. */
  async settled(): Promise<void> {
    await Promise.all(this.#fleet.all().map((workload) => workload.network.settled()));
  }

  /** Everything of a replica ends at once, and another takes its place. Without a name: the first live one. */
  killReplica(key: ResourceKey, options: { location?: string; replica?: string } = {}): void {
    for (const place of this.#fleet.get(key).locations.values()) {
      if (options.location !== undefined && place.name !== options.location) continue;
      const found = place.state.replicas.find((item) =>
        options.replica === undefined ? isLive(item) : item.name === options.replica,
      );
      if (found !== undefined) {
        place.dispatch({ type: "kill-replica", replica: found.id });
        return;
      }
    }
    throw new UnknownReplica(options.replica ?? "(any)", options.location ?? "(any)");
  }

  /** Delays of boots from now on. */
  setBoot(key: ResourceKey, delays: BootDelays): void {
    this.#fleet.controls(key).boot.delays = delays;
  }

  /** Boots stop at a named point until released. */
  holdBoot(key: ResourceKey, point: BootPoint = "start"): BootHold {
    return this.#fleet.controls(key).boot.hold(point);
  }

  /** Makes a workload fail to come up, or fall over, until cleared. */
  fail(key: ResourceKey, failure: Failure, location?: string): void {
    this.#fleet.controls(key).setFailure(failure, location);
    this.#fleet.find(key)?.failureChanged(location);
  }

  clear(key: ResourceKey, location?: string): void {
    this.#fleet.controls(key).setFailure(undefined, location);
    this.#fleet.find(key)?.failureChanged(location);
  }

  /** How the mesh behaves towards this one workload while nothing of it is ready; `undefined`: as all do. */
  setMute(key: ResourceKey, behaviour: MuteBehaviour | undefined): void {
    this.#fleet.controls(key).mute = behaviour;
    this.#fleet.find(key)?.changed();
  }

  /** Where clients of a direct load balancer connect to. Settles when it listens. */
  async endpoint(
    key: ResourceKey,
    externalPort: number,
    location?: string,
  ): Promise<{ host: string; port: number }> {
    const workload = this.#fleet.get(key);
    await workload.network.settled();
    const open = workload.network
      .openBalancers()
      .find(
        (item) => item.port.externalPort === externalPort && (location ?? item.location) === item.location,
      );
    if (open === undefined) throw new Error(`${key.name} has no open load balancer port ${externalPort}`);
    return { host: "127.0.0.1", port: open.localPort };
  }

  /** The address behind a workload's name, as its neighbours see it. */
  meshAddress(key: ResourceKey, scope: MeshScope = {}): string {
    const address = this.#fleet.get(key).network.address(scope);
    if (address === undefined) throw new Error(`${key.name} has no such mesh address`);
    return address;
  }

  /** What a name leads to from an address; `undefined`: nobody answers. */
  resolve(name: string, callerAddress: string): string | undefined {
    return this.#fleet.resolve(name, this.#callers.at(callerAddress)?.workload);
  }

  /**
   * An address and a token of a workload's own, for a caller that this platform does not run: connections bound to
   * the address count as the workload's.
   */
  impersonate(key: ResourceKey, location = "local"): { address: string; token: string; release(): void } {
    const address = this.#running().block.allocate();
    const token = this.#callers.admit(key, location, address);
    return { address, token, release: () => this.#callers.dismiss(token) };
  }

  connections(key: ResourceKey, filter?: ConnectionFilter): RecordedConnection[] {
    return this.#recorder.of(key, filter);
  }

  logs(key: ResourceKey): LogLine[] {
    return this.#logs.filter((line) => sameKey(line.workload, key));
  }

  #onChange(change: ResourceChange): void {
    if (this.#phase === "new") this.#early.push(change);
    else if (this.#phase === "running") this.#fleet.documentChanged(change, this.#running());
  }

  #running(): PlatformContext {
    if (this.#context === undefined) throw new Error("the platform is not started");
    return this.#context;
  }

  #log(line: LogLine): void {
    this.#logs.push(line);
    if (this.#logs.length > keptLogLines) this.#logs.shift();
    this.#options.onLog?.(line);
  }
}
