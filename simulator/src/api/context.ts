import type { Clock, JsonObject, Platform, ResourceKey, Store } from "../model.ts";
import type { ResourceKind } from "./resource-kind.ts";
import type { ApiSwitches } from "./switches.ts";
import type { Tokens } from "./tokens.ts";

/** Everything a stage, an operation or a kind may use. */
export interface ApiContext {
  readonly store: Store;
  readonly platform: Platform;
  readonly clock: Clock;
  readonly kinds: ReadonlyMap<string, ResourceKind>;
  readonly orgs: readonly string[];
  readonly switches: ApiSwitches;
  readonly tokens: Tokens;
  readonly journal: Journal;
  /** Where this API listens: known once it does. */
  readonly url: () => string;
}

/** Side records that aren't documents: events and commands of a resource. Forgotten with it. */
export interface Journal {
  events(key: ResourceKey): readonly JsonObject[];
  record(key: ResourceKey, event: JsonObject): void;
  commands(key: ResourceKey): readonly JsonObject[];
  addCommand(key: ResourceKey, command: JsonObject): void;
  forget(key: ResourceKey): void;
}
