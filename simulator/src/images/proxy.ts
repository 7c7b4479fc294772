import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type Image, matchesName } from "./catalogue.ts";
import { pinnedNode, processImage } from "./process-image.ts";

export interface ProxyImageOptions {
  /** Instead of the checkout's own bundle. */
  main?: string;
}

const inDist = (name: string) => fileURLToPath(new URL(`../../../proxy-image/dist/${name}`, import.meta.url));

/** As the image's ENTRYPOINT and ENV have them. */
export const proxyEntry = {
  flags: ["--max-semi-space-size=1", "--max-old-space-size=48", "--v8-pool-size=0"],
  env: { NODE_ENV: "production", MALLOC_ARENA_MAX: "1" },
};

/** The project's own proxy, as the checkout has built it. Its image holds Node and the bundle, and no shell. */
export function proxyImage(options: ProxyImageOptions = {}): Image {
  const main = options.main ?? inDist("main.js");
  const entry = options.main ?? inDist("start.js");
  return processImage({
    description: "the proxy of this checkout, run by the pinned Node",
    matches: matchesName("scale-to-zero-proxy"),
    hasShell: false,
    bootMs: 300,
    spec: (context) => {
      if (!existsSync(main)) {
        context.log("stderr", "the proxy is not built: run `npm run build` first");
        throw new Error("the proxy is not built: run `npm run build` first");
      }
      return {
        command: [pinnedNode(), ...proxyEntry.flags, entry],
        env: proxyEntry.env,
        translate: (command) => inThisCheckout(command, { main, entry }),
      };
    },
  });
}

/** `node /app/main.js prestop` in the image is the same program here; whatever else it does not hold is not found. */
function inThisCheckout(
  [program = "", ...args]: string[],
  { main, entry }: { main: string; entry: string },
): string[] {
  const name = basename(program);
  if (name === "node") {
    return [pinnedNode(), ...args.map((arg) => (basename(arg) === "main.js" ? main : arg))];
  }
  if (name === "scale-to-zero-proxy") return [pinnedNode(), ...proxyEntry.flags, entry, ...args];
  return ["/not-in-this-image"];
}
