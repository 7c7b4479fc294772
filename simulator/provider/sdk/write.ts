/** Writes the SDK's sources again: `node simulator/provider/sdk/write.ts`, then `npx biome check --write sdks`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { schema } from "../registry.ts";
import { sdkFiles } from "./generate.ts";

const root = fileURLToPath(new URL("../../../sdks/cpln/src/", import.meta.url));
for (const [name, text] of Object.entries(sdkFiles(schema()))) {
  mkdirSync(dirname(root + name), { recursive: true });
  writeFileSync(root + name, text);
}
