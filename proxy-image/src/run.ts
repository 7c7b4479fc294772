import { join } from "node:path";
import { formatProblem, type Problem, parseEnvironment } from "../../src/contract/environment";
import type { ProxySettings } from "../../src/contract/settings";
import { version } from "../../src/version";
import { CplnClient } from "./cpln/client";
import { healthBody } from "./http/report";
import { type Log, stdoutLog } from "./log/log";
import { type ChosenPlane, choosePlane } from "./net/planes";
import { capByDescriptors } from "./runtime/admission";
import { systemClock } from "./runtime/clock";
import { descriptorLimit } from "./runtime/descriptors";
import { ListenError, ProxyServer } from "./runtime/proxy";

/** As `sysexits.h` has it: something is wrong with the settings, and trying again does not help. */
export const EXIT_SETTINGS = 78;
const EXIT_LISTEN = 1;

/** Beside the bundle, which is one file. */
const ADDON_FILE = join(__dirname, "splice.node");

type Exit = (code: number) => void;

/** How this process came to be, for the log. */
interface Start {
  compiledAhead: boolean;
}

export async function run(env: NodeJS.ProcessEnv, exit: Exit, { compiledAhead }: Start): Promise<void> {
  const parsed = readSettings(env);
  if (!parsed.ok) {
    for (const problem of parsed.problems) process.stderr.write(`${formatProblem(problem)}\n`);
    exit(EXIT_SETTINGS);
    return;
  }
  const log = stdoutLog();
  const { plane, whyNotNative } = parsed;
  if (whyNotNative !== undefined) log.event("plane_fallback", { reason: whyNotNative });
  for (const warning of parsed.warnings) log.event("settings_warning", { warning });
  const settings = withinDescriptors(parsed.settings, log);
  const client = new CplnClient(settings.platform);
  try {
    const proxy = await ProxyServer.start(settings, {
      clock: systemClock,
      random: Math.random,
      log,
      plane,
      api: (target) => client.target(target),
    });
    onSignals(proxy, log, exit);
    await openHealth(settings, proxy, plane.name);
  } catch (error) {
    const port = error instanceof ListenError ? error.port : settings.healthPort;
    log.event("listen_failed", { port, error: error instanceof Error ? error.message : String(error) });
    exit(EXIT_LISTEN);
    return;
  }
  log.event("started", {
    version,
    plane: plane.name,
    targets: settings.targets.map(({ gvc, workload }) => `${gvc}/${workload}`),
    ports: settings.targets.flatMap(({ ports }) => ports.map(({ listen, target }) => `${listen}:${target}`)),
    healthPort: settings.healthPort,
    compiledAhead,
    tookMs: Math.round(process.uptime() * 1_000),
  });
}

type Parsed = ReturnType<typeof parseEnvironment>;
type Ready = Extract<Parsed, { ok: true }> & ChosenPlane;

/** The parser's problems, and those that only this build of the proxy can know. */
function readSettings(env: NodeJS.ProcessEnv): Ready | Extract<Parsed, { ok: false }> {
  const parsed = parseEnvironment(env);
  if (!parsed.ok) return parsed;
  const { dataPlane, stallLimitMs, halfCloseLingerMs } = parsed.settings;
  try {
    const limits = { stallMs: stallLimitMs, halfCloseMs: halfCloseLingerMs };
    return { ...parsed, ...choosePlane(dataPlane, ADDON_FILE, limits) };
  } catch (error) {
    const problem: Problem = {
      kind: "invalid",
      variable: "DATA_PLANE",
      path: [],
      reason: `asks for the native plane, which can't be loaded (${error instanceof Error ? error.message : error}): use auto or js`,
      got: dataPlane,
    };
    return { ok: false, problems: [problem] };
  }
}

function withinDescriptors(settings: ProxySettings, log: Log): ProxySettings {
  const limit = descriptorLimit();
  const maxConnectionsTotal = capByDescriptors(settings.maxConnectionsTotal, limit);
  if (maxConnectionsTotal === settings.maxConnectionsTotal) return settings;
  log.event("descriptor_limit", { limit, maxConnectionsTotal });
  return { ...settings, maxConnectionsTotal };
}

/** HTTP is loaded once the ports are listened on: clients are held meanwhile. */
async function openHealth(settings: ProxySettings, proxy: ProxyServer, plane: string): Promise<void> {
  const { openHealthServer } = await import("./http/server.js");
  await openHealthServer({
    host: settings.listenHost,
    port: settings.healthPort,
    health: () => healthBody(proxy.report(), { version, plane }, Date.now()),
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
