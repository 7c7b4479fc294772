import { readdirSync } from "node:fs";
import type { ResourceKind } from "./resource-kind.ts";

/** Every file of kinds/ is a kind of resource: adding a kind is adding a file. */
export async function loadKinds(
  directory: URL = new URL("./kinds/", import.meta.url),
): Promise<ReadonlyMap<string, ResourceKind>> {
  const files = readdirSync(directory)
    .filter((file) => file.endsWith(".ts"))
    .sort();
  const modules = await Promise.all(
    files.map(
      (file) => import(/* @vite-ignore */ new URL(file, directory).href) as Promise<{ kind: ResourceKind }>,
    ),
  );
  return new Map(modules.map(({ kind }) => [kind.kind, kind]));
}
