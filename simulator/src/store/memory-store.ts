import type { Resource, ResourceChange, ResourceKey, Store } from "../model.ts";

/** One string a document, so that a Map can index it. `/` never occurs in a name. */
const idOf = (key: ResourceKey): string => [key.org, key.gvc ?? "", key.kind, key.name].join("/");

/**
 * Documents in memory. What goes in is copied and frozen: a reader may keep what it got, and nobody can change a
 * document except by writing a new one.
 */
export class MemoryStore implements Store {
  readonly #documents = new Map<string, { key: ResourceKey; resource: Resource }>();
  readonly #listeners = new Set<(change: ResourceChange) => void>();

  get(key: ResourceKey): Resource | undefined {
    return this.#documents.get(idOf(key))?.resource;
  }

  /** Without `gvc`, a GVC's documents of that kind are listed for every GVC. Sorted by name, then GVC. */
  list(scope: { org: string; kind: string; gvc?: string }): { key: ResourceKey; resource: Resource }[] {
    return [...this.#documents.values()]
      .filter(({ key }) => key.org === scope.org && key.kind === scope.kind)
      .filter(({ key }) => scope.gvc === undefined || key.gvc === scope.gvc)
      .sort((a, b) => compare(a.key.name, b.key.name) || compare(a.key.gvc ?? "", b.key.gvc ?? ""));
  }

  put(key: ResourceKey, resource: Resource): void {
    const before = this.get(key);
    const after = freeze(structuredClone(resource));
    this.#documents.set(idOf(key), { key: Object.freeze({ ...key }), resource: after });
    this.#tell(before ? { type: "updated", key, before, after } : { type: "created", key, after });
  }

  delete(key: ResourceKey): void {
    const before = this.get(key);
    if (before === undefined) return;
    this.#documents.delete(idOf(key));
    this.#tell({ type: "deleted", key, before });
  }

  subscribe(listener: (change: ResourceChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #tell(change: ResourceChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
