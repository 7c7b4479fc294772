/**
 * The seams between the simulator's rooms: the API (documents, permissions, faults), the platform (workloads
 * as processes, mesh, load balancer) and time. Each room depends on these interfaces, never on another's files.
 */

/** Anything JSON can hold. Documents stay close to the wire: what a client sent is what is kept. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
export type JsonObject = { [key: string]: Json | undefined };

/** A stored document: the platform's envelope plus whatever its kind adds (`spec`, `bindings`, …). */
export interface Resource extends JsonObject {
  id: string;
  kind: string;
  name: string;
  version: number;
  description: string;
  tags: JsonObject;
  created: string;
  lastModified: string;
}

/** Where a document lives. `gvc` is set exactly for kinds that belong to a GVC (workload, identity). */
export interface ResourceKey {
  org: string;
  kind: string;
  name: string;
  gvc?: string | undefined;
}

export interface ResourceChange {
  type: "created" | "updated" | "deleted";
  key: ResourceKey;
  before?: Resource;
  after?: Resource;
}

/** Documents only: no permissions, no defaults, no status. Listeners run synchronously, in order of writing. */
export interface Store {
  get(key: ResourceKey): Resource | undefined;
  list(scope: { org: string; kind: string; gvc?: string }): { key: ResourceKey; resource: Resource }[];
  put(key: ResourceKey, resource: Resource): void;
  delete(key: ResourceKey): void;
  subscribe(listener: (change: ResourceChange) => void): () => void;
}

/** What the API asks of the running platform to answer for a workload. All answers are snapshots. */
export interface Platform {
  /** The `status` and `health` blocks of a workload document. */
  workloadStatus(key: ResourceKey): { status: JsonObject; health: JsonObject };
  /** One deployment a location, in the shape of `GET …/deployment`, without links. */
  deployments(key: ResourceKey): JsonObject[];
  /** Replica names in one location. */
  replicas(key: ResourceKey, location: string): string[];
  /** The `stopReplica` command: the replica is ended and replaced. Unknown replicas are an error. */
  stopReplica(key: ResourceKey, location: string, replica: string): void;
  /** Whose token this is, and whether the call came from that workload's own address (it is worthless elsewhere). */
  workloadOf(token: string, remoteAddress: string): { workload: ResourceKey; attested: boolean } | undefined;
}

/** Time for everything that is the simulator's own: boot, grace, lag, delays. Real until a test drives it. */
export interface Clock {
  now(): number;
  /** Runs once, `delayMs` from now; the returned function cancels. */
  after(delayMs: number, run: () => void): () => void;
}
