import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The versions live in the Go modules' own files, where dependency updates find them. */
export const cliModuleDir = fileURLToPath(new URL("go/cli", import.meta.url));
export const hostModuleDir = fileURLToPath(new URL("go/nodejs-host", import.meta.url));

const cliModule = readFileSync(`${cliModuleDir}/go.mod`, "utf8");
const hostModule = readFileSync(`${hostModuleDir}/go.mod`, "utf8");

/** The engine that is installed or built where none is at hand. */
export const engineVersion = find(cliModule, /github\.com\/pulumi\/pulumi\/pkg\/v3 v(\S+)/);

/** The newest release whose Go module still holds the Node language host; newer engines work with it. */
export const nodeHostVersion = find(hostModule, /github\.com\/pulumi\/pulumi\/sdk\/v3 v(\S+)/);

/** The Go release that the engine's modules ask for. */
export const goVersion = find(cliModule, /^go (\S+)$/m);

/** An engine on the PATH is taken from here on: the lower end of the package's own peer range. */
export const oldestEngineVersion = "3.142.0";

function find(text: string, pattern: RegExp): string {
  const version = pattern.exec(text)?.[1];
  if (version === undefined) throw new Error(`tools/engine/go: no version matches ${pattern}`);
  return version;
}

/** The version in a command's output, as `v3.276.0` or `go version go1.26.8 linux/amd64`. */
export function versionIn(output: string): string | undefined {
  return /\d+\.\d+\.\d+\S*/.exec(output)?.[0];
}

/** True where `version` has the major of `floor` and is not older; pre-release parts are not looked at. */
export function satisfies(version: string, floor: string): boolean {
  const [have, want] = [numbers(version), numbers(floor)];
  if (have[0] !== want[0]) return false;
  return have[1] !== want[1] ? have[1] > want[1] : have[2] >= want[2];
}

function numbers(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.+-]/, 3).map(Number);
  return [major, minor, patch];
}
