import { fileURLToPath } from "node:url";
import { type Image, matchesName } from "./catalogue.ts";
import { pinnedNode, processImage } from "./process-image.ts";

const program = fileURLToPath(new URL("./echo-banner-server.ts", import.meta.url));

/** The smallest real process that a proxy can wake. */
export function echoBannerImage(): Image {
  return processImage({
    description: "a small server process that says a banner on every declared port and then echoes",
    matches: matchesName("echo-banner"),
    bootMs: 500,
    spec: (context) => ({ command: [pinnedNode(), program, ...context.ports.map(String)] }),
  });
}
