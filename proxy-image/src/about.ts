import { version } from "../../src/version";

/** Put in by the bundler, which alone knows. */
declare const BUNDLED_PACKAGES: { name: string; version: string; license: string }[];

/** What `--version` prints; `verbose` adds what the version alone does not say. */
export function about(verbose: boolean): string {
  if (!verbose) return `${version}\n`;
  const packages = BUNDLED_PACKAGES.map((each) => `${each.name} ${each.version} (${each.license})`);
  return [
    `scale-to-zero-proxy ${version}`,
    `node ${process.versions.node}, v8 ${process.versions.v8}, openssl ${process.versions.openssl}`,
    ...packages,
    "",
  ].join("\n");
}
