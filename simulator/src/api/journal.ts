import { selfLink } from "../documents/links.ts";
import type { JsonObject, ResourceKey } from "../model.ts";
import type { Journal } from "./context.ts";

const kept = 200;

export function createJournal(): Journal {
  const events = new Map<string, JsonObject[]>();
  const commands = new Map<string, JsonObject[]>();
  const add = (where: Map<string, JsonObject[]>, key: ResourceKey, item: JsonObject): void => {
    const link = selfLink(key);
    where.set(link, [...(where.get(link) ?? []).slice(1 - kept), item]);
  };
  return {
    events: (key) => events.get(selfLink(key)) ?? [],
    record: (key, event) => add(events, key, event),
    commands: (key) => commands.get(selfLink(key)) ?? [],
    addCommand: (key, command) => add(commands, key, command),
    forget(key) {
      events.delete(selfLink(key));
      commands.delete(selfLink(key));
    },
  };
}
