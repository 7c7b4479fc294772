import { mkdir, readFile, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation/index.js";
import { builtInImages } from "../../simulator/src/images/index.ts";
import { type Simulator, startSimulator } from "../../simulator/src/index.ts";
import type { ResourceKey } from "../../simulator/src/model.ts";
import { createPlatform, type LocalPlatform, type LogLine } from "../../simulator/src/platform/index.ts";
import { type EngineSession, localPlugins } from "../engine/session.ts";
import { fromRoot } from "../lib/root.ts";
import type { Narrator } from "./narrator.ts";
import type { SftpEndpoint } from "./sftp-client.ts";

/** Where the demo happens: the local platform, the example's stack, and the two workloads in it. */
export interface Place {
  session: EngineSession;
  say: Narrator;
  simulator: Simulator<LocalPlatform>;
  stack: Stack;
  target: ResourceKey;
  proxy: ResourceKey;
  /** How long the target takes to come up, in milliseconds. */
  boot: number;
  endpoint(): Promise<SftpEndpoint>;
  /** Settles when the proxy has logged such an event from now on. */
  logged(event: string, signal: AbortSignal): Promise<void>;
  dispose(): Promise<void>;
}

const org = "demo";
const gvc = "scale-to-zero-sftp";
const boot = 2_000;
/** A real sshd serves no users but the machine's. */
export const user = userInfo().username;

export async function openPlace(session: EngineSession, say: Narrator): Promise<Place> {
  const listeners = new Set<(event: string) => void>();
  const simulator = await startSimulator({
    org,
    gvcs: [],
    platform: ({ store, clock, apiUrl, mayReveal }) =>
      createPlatform({
        store,
        clock,
        apiUrl,
        mayReveal,
        images: builtInImages(),
        bootMs: boot,
        onLog: (line) => onLog(line, say, listeners),
      }),
  });
  const workload = (name: string): ResourceKey => ({ org, kind: "workload", gvc, name });
  const proxy = workload("sftp-proxy");
  return {
    session,
    say,
    simulator,
    stack: await exampleStack(session, simulator),
    target: workload("sftp"),
    proxy,
    boot,
    async endpoint() {
      return { ...(await simulator.platform.endpoint(proxy, 22)), user };
    },
    logged: (event, signal) =>
      new Promise((resolve, reject) => {
        const listener = (found: string) => {
          if (found !== event) return;
          listeners.delete(listener);
          resolve();
        };
        listeners.add(listener);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
    dispose: () => simulator.dispose(),
  };
}

/** The example's own project, in a folder of its own so that no stack's settings are left in the checkout. */
async function exampleStack(session: EngineSession, simulator: Simulator<LocalPlatform>): Promise<Stack> {
  const workDir = join(session.dir, "project");
  await mkdir(workDir);
  const project = await readFile(fromRoot("examples", "sftp", "Pulumi.yaml"), "utf8");
  const main = fromRoot("examples", "sftp", "index.ts");
  const local = project.replace(/^main: .*$/m, `main: ${main}`);
  // JSON is YAML.
  await writeFile(join(workDir, "Pulumi.yaml"), `${local}\nplugins: ${JSON.stringify(localPlugins)}\n`);
  return LocalWorkspace.createStack(
    { stackName: "demo", workDir },
    {
      pulumiCommand: session.automation,
      envVars: {
        ...session.env,
        CPLN_ENDPOINT: simulator.apiUrl,
        CPLN_ORG: org,
        CPLN_TOKEN: simulator.deployerToken,
      },
    },
  );
}

/** The proxy's log, as the demo tells it. */
const told: Record<string, (line: Record<string, unknown>) => string | undefined> = {
  // The component has said the same at preview.
  settings_warning: () => undefined,
  wake: () => "holds the client and un-suspends the target",
  ready: ({ tookMs }) =>
    `the target itself has answered, ${(Number(tookMs) / 1000).toFixed(1)} s after the wake began`,
  suspend: ({ idleMs }) =>
    `nobody has been connected for ${(Number(idleMs) / 1000).toFixed(1)} s: suspends the target`,
  suspended: () => "the platform has accepted the suspend",
};

function onLog(line: LogLine, say: Narrator, listeners: Set<(event: string) => void>): void {
  if (line.container !== "proxy" || line.stream !== "stdout") return;
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line.text);
  } catch {
    return;
  }
  const event = String(entry.event);
  const tell = told[event];
  const text = tell ? tell(entry) : entry.level === "info" ? undefined : line.text;
  if (text) say.line("proxy", text);
  for (const listener of listeners) listener(event);
}
