import { fileURLToPath } from "node:url";
import type { ImageConfig } from "./layout.ts";

const script = fileURLToPath(new URL("./sandbox.sh", import.meta.url));

/**
 * The words before a command that have it run in an unpacked image. `see` is one file of this machine's that it may
 * read besides, under the same path.
 */
export function sandboxed(root: string, { config }: ImageConfig, see = ""): string[] {
  return ["/usr/bin/unshare", "--mount", "/bin/sh", script, root, config.User, see];
}

export function environmentOf({ config }: ImageConfig): Record<string, string> {
  return Object.fromEntries(
    config.Env.map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}
