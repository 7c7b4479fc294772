import type { JsonObject, ResourceKey, Store } from "../model.ts";
import { object, text } from "./json.ts";

const reference = /^cpln:\/\/secret\/([^.]+)(?:\.(.+))?$/;

/** Whether an environment value is a reference, and to what. */
export function secretReference(value: string): { name: string; key: string | undefined } | undefined {
  const parsed = reference.exec(value);
  return parsed?.[1] === undefined ? undefined : { name: parsed[1], key: parsed[2] };
}

/** The text behind a reference, or `undefined` where there is none. */
export function secretValue(
  store: Store,
  org: string,
  wanted: { name: string; key: string | undefined },
): string | undefined {
  const key: ResourceKey = { org, kind: "secret", name: wanted.name };
  const secret = store.get(key);
  if (secret === undefined) return undefined;
  const data = secret.data;
  if (typeof data === "string") return wanted.key === undefined ? data : undefined;
  const fields: JsonObject = object(data);
  if (secret.type === "opaque" && (wanted.key === undefined || wanted.key === "payload")) {
    const payload = text(fields.payload) ?? "";
    return fields.encoding === "base64" ? Buffer.from(payload, "base64").toString("utf8") : payload;
  }
  if (wanted.key === undefined) return JSON.stringify(fields);
  return text(fields[wanted.key]);
}
