import { formatProblem, type Problem, parseEnvironment } from "../../src/contract/environment";
import type { ProxySettings } from "../../src/contract/settings";
import { version } from "../../src/version";
import { CplnClient } from "./cpln/client";
import { healthBody } from "./http/report";
import { type Log, stdoutLog } from "./log/log";
import { jsPlane } from "./net/js-plane";
import { capByDescriptors } from "./runtime/admission";
import { systemClock } from "./runtime/clock";
import { descriptorLimit } from "./runtime/descriptors";
import { ListenError, ProxyServer } from "./runtime/proxy";

/** As `sysexits.h` has it: something is wrong with the settings, and trying again does not help. */
export const EXIT_SETTINGS = 78;
const EXIT_LISTEN = 1;

type Exit = (code: number) => void;

export async function run(env: NodeJS.ProcessEnv, exit: Exit): Promise<void> {
  const parsed = readSettings(env);
  if (!parsed.ok) {
    for (const problem of parsed.problems) process.stderr.write(`${formatProblem(problem)}\n`);
    exit(EXIT_SETTINGS);
    return;
  }
  const log = stdoutLog();
  for (const warning of parsed.warnings) log.event("settings_warning", { warning });
  const settings = withinDescriptors(parsed.settings, log);
  const client = new CplnClient(settings.platform);
  try {
    const proxy = await ProxyServer.start(settings, {
      clock: systemClock,
      random: Math.random,
      log,
      plane: jsPlane,
      api: (target) => client.target(target),
    });
    onSignals(proxy, log, exit);
    await openHealth(settings, proxy);
  } catch (error) {
    const port = error instanceof ListenError ? error.port : settings.healthPort;
    log.event("listen_failed", { port, error: error instanceof Error ? error.message : String(error) });
    exit(EXIT_LISTEN);
    return;
  }
  log.event("started", {
    version,
    plane: jsPlane.name,
    targets: settings.targets.map(({ gvc, workload }) => `${gvc}/${workload}`),
    ports: settings.targets.flatMap(({ ports }) => ports.map(({ listen, target }) => `${listen}:${target}`)),
    healthPort: settings.healthPort,
    tookMs: Math.round(performance.now()),
  });
}

/** The parser's problems, and those that only this build of the proxy can know. */
function readSettings(env: NodeJS.ProcessEnv): ReturnType<typeof parseEnvironment> {
  const parsed = parseEnvironment(env);
  if (env.DATA_PLANE?.trim() !== "native") return parsed;
  const problem: Problem = {
    kind: "invalid",
    variable: "DATA_PLANE",
    path: [],
    reason: "asks for the native plane, which this image does not hold: use auto or js",
    got: "native",
  };
  return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), problem] };
}

function withinDescriptors(settings: ProxySettings, log: Log): ProxySettings {
  const limit = descriptorLimit();
  const maxConnectionsTotal = capByDescriptors(settings.maxConnectionsTotal, limit);
  if (maxConnectionsTotal === settings.maxConnectionsTotal) return settings;
  log.event("descriptor_limit", { limit, maxConnectionsTotal });
  return { ...settings, maxConnectionsTotal };
}

/** HTTP is loaded once the ports are listened on: clients are held meanwhile. */
async function openHealth(settings: ProxySettings, proxy: ProxyServer): Promise<void> {
  const { openHealthServer } = await import("./http/server.js");
  await openHealthServer({
    host: settings.listenHost,
    port: settings.healthPort,
    health: () => healthBody(proxy.report(), { version, plane: jsPlane.name }, Date.now()),
    ready: () => proxy.ready,
    drain: () => proxy.drain.withdraw(),
  });
}

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;

/** The first signal drains; the second ends the process at once. */
function onSignals(proxy: ProxyServer, log: Log, exit: Exit): void {
  let signals = 0;
  const end = (code: number) => {
    proxy.stop();
    log.event("stopped", { code });
    exit(code);
  };
  for (const [name, number] of Object.entries(SIGNALS)) {
    process.on(name, () => {
      signals += 1;
      if (signals > 1) end(128 + number);
      else void proxy.drain.stop(name).then(() => end(0));
    });
  }
}
