import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

export const fromRoot = (...parts: string[]) => join(root, ...parts);

/** Where npm links the commands of dependencies, the pinned Node among them. */
export const npmBinDir = fromRoot("node_modules", ".bin");
