import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningPlatform, Simulator } from "../../simulator/src/index.ts";
import { type Captured, capture } from "../../tools/lib/run.ts";

const named = process.env.CPLN_CLI;

/**
 * Why the platform's own command line can't be run, if it can't. It declares no licence, so it is no dependency:
 * `CPLN_CLI` names the binary of an installed `@controlplane/cli` 3.10.1.
 */
export const cplnMissing: string | undefined = !named
  ? "CPLN_CLI names no cpln: npm install --prefix <folder> @controlplane/cli@3.10.1"
  : existsSync(named)
    ? undefined
    : `CPLN_CLI names ${named}, which is not there`;

/** Whether a missing peer is a failure, as it is in CI. A path that is wrong always is. */
export const cplnRequired = process.env.REQUIRE_REAL_PEERS === "1" || Boolean(named);

export interface CplnCli {
  /** Runs it. What it writes is kept, whatever its exit code. */
  run(...args: string[]): Promise<Captured>;
  /** Runs it and insists on success. Answers its standard output. */
  ok(...args: string[]): Promise<string>;
  /** The same with `-o json`, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever it prints, for matchers to look into
  json(...args: string[]): Promise<any>;
  /** A file for it to read. Answers the path. */
  file(name: string, content: unknown): Promise<string>;
  dispose(): Promise<void>;
}

/** The real `cpln`, pointed at a simulator by its environment; no profile, no login, a home of its own. */
export async function startCpln(
  simulator: Simulator<RunningPlatform>,
  options: { gvc: string; token?: string },
): Promise<CplnCli> {
  const home = await mkdtemp(join(tmpdir(), "cpln-cli-"));
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: home,
    NO_COLOR: "1",
    CPLN_ENDPOINT: simulator.apiUrl,
    CPLN_TOKEN: options.token ?? simulator.deployerToken,
    CPLN_ORG: simulator.org,
    CPLN_GVC: options.gvc,
    CPLN_SKIP_UPDATE_CHECK: "1",
  };
  const run = (...args: string[]) => capture(named ?? "cpln", args, { cwd: home, env });
  const ok = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    if (code !== 0) throw new Error(`cpln ${args.join(" ")} exited with ${code}\n${stdout}${stderr}`);
    return stdout;
  };
  return {
    run,
    ok,
    json: async (...args) => JSON.parse(await ok(...args, "-o", "json")),
    async file(name, content) {
      // JSON is YAML.
      await writeFile(join(home, name), JSON.stringify(content));
      return join(home, name);
    },
    dispose: () => rm(home, { recursive: true, force: true }),
  };
}
