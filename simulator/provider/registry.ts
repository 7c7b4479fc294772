/** Every file in `resources/` is a kind: adding one there is all it takes. */
import { readdirSync } from "node:fs";
import type { Lookup, ResourceKind } from "./mapping/kind.ts";
import { type PackageSchema, packageSchema } from "./mapping/schema.ts";

interface KindModule {
  resource?: ResourceKind;
  lookup?: Lookup;
}

const folder = new URL("./resources/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
const modules: KindModule[] = await Promise.all(
  files.sort().map((name) => import(new URL(name, folder).href)),
);

export const kinds = modules.flatMap(({ resource }) => resource ?? []);
export const lookups = modules.flatMap(({ lookup }) => lookup ?? []);

export const schema = (): PackageSchema => packageSchema(kinds, lookups);
