import { createCatalogue, type Image, type ImageCatalogue } from "./catalogue.ts";
import { echoBannerImage } from "./echo-banner.ts";
import { type ProxyImageOptions, proxyImage } from "./proxy.ts";
import { type SshImageOptions, sshImage } from "./ssh.ts";

export type {
  ContainerContext,
  ContainerExit,
  Execution,
  Image,
  ImageCatalogue,
  RunningContainer,
} from "./catalogue.ts";
export { createCatalogue, matchesName } from "./catalogue.ts";
export { echoBannerImage } from "./echo-banner.ts";
export {
  bannerEcho,
  type FunctionContainer,
  type FunctionImageOptions,
  functionImage,
} from "./function-image.ts";
export { memoryEnforcement } from "./memory-limit.ts";
export { type ProcessImageOptions, type ProcessSpec, pinnedNode, processImage } from "./process-image.ts";
export { type ProxyImageOptions, proxyImage } from "./proxy.ts";
export { type SshImageOptions, sshImage } from "./ssh.ts";

/** What the local platform can run out of the box; `more` come first and may take the place of those. */
export function builtInImages(
  options: { proxy?: ProxyImageOptions; ssh?: SshImageOptions; more?: Image[] } = {},
): ImageCatalogue {
  return createCatalogue(
    ...(options.more ?? []),
    proxyImage(options.proxy),
    sshImage(options.ssh),
    echoBannerImage(),
  );
}
