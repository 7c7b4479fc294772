/**
 * The one file here that runs on whatever Node is on the PATH (18 or later) with nothing installed, so that
 * `npm test` and `npm run demo` work on a fresh clone. It installs what is missing and runs the task under the
 * pinned Node, which the npm package `node` brings.
 *
 *   node tools/bootstrap.mjs <task> [arguments for the task]
 *
 * npm's scripts start it with `exec`: the shell that npm puts between would keep signals to itself.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const binDir = join(root, "node_modules", ".bin");
const pinnedNode = join(binDir, "node");

const tasks = {
  test: { script: "tools/test.ts", about: "build, find the Pulumi engine, run every test" },
  bench: { script: "bench/index.ts", about: "measure the data plane beside other proxies" },
  demo: { script: "tools/demo/main.ts", about: "wake a suspended SFTP server on the local simulator" },
  simulator: { script: "simulator/src/main.ts", about: "run the local Control Plane" },
  engine: { script: "tools/engine/cli.ts", about: "find or make the Pulumi engine" },
  build: { script: "tools/build.ts", about: "compile the package and bundle the proxy" },
  docs: { script: "tools/docs.ts", about: "write the generated sections of the docs again" },
  image: {
    script: "tools/image/build.ts",
    about: "build the proxy's image from Debian packages, with buildah",
  },
  check: { script: "tools/check.ts", about: "format, lint and type checks" },
};

/** A second Ctrl-C this soon is the first one delivered twice: by the terminal and by npm. */
const sameSignalMs = 1_000;
/** The Pulumi engine ends its plugins and writes its state on the first signal; it gets this long. */
const endGraceMs = 15_000;

await main();

async function main() {
  const [name, ...args] = process.argv.slice(2);
  const task = name === undefined ? undefined : tasks[name];
  if (task === undefined) {
    const list = Object.entries(tasks).map(([key, { about }]) => `  ${key.padEnd(10)} ${about}`);
    console.error(`usage: node tools/bootstrap.mjs <task> [arguments]\n\n${list.join("\n")}`);
    process.exit(64);
  }

  const reason = reasonToInstall();
  if (reason !== undefined) {
    say(`installing dependencies with npm ci (${reason})`);
    const [npm, ...npmArgs] = npmCommand();
    const code = await runGroup(npm, [...npmArgs, "ci", "--include=dev", "--loglevel=error"]);
    if (code !== 0) {
      say(`npm ci failed with exit code ${code}`);
      process.exit(code);
    }
  }
  if (!existsSync(pinnedNode)) {
    say("the npm package `node` has no binary: its install script was skipped. Run `npm rebuild node`.");
    process.exit(69);
  }

  process.exit(
    await runGroup(pinnedNode, [join(root, task.script), ...args], {
      PATH: [binDir, process.env.PATH].join(delimiter),
    }),
  );
}

function say(text) {
  console.error(`bootstrap: ${text}`);
}

/**
 * Compares the lockfile with npm's own record of what it installed last. A stamp of our own would call for a
 * second install after anybody's plain `npm ci`, and would say nothing about an interrupted one.
 */
function reasonToInstall() {
  const installed = readPackages(join(root, "node_modules", ".package-lock.json"));
  if (installed === undefined) return "nothing is installed";
  if (!existsSync(pinnedNode)) return "the pinned Node is missing";
  const wanted = readPackages(join(root, "package-lock.json"));
  if (wanted === undefined) return undefined;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === "") continue;
    const found = installed[path];
    // Optional packages for other platforms are locked but not installed.
    if (found === undefined ? !entry.optional : found.version !== entry.version) {
      return `${path} is not as package-lock.json has it`;
    }
  }
  return undefined;
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

/** The npm that is running this script, where there is one; other package managers set the variable too. */
function npmCommand() {
  const path = process.env.npm_execpath;
  return path?.endsWith("npm-cli.js") ? [process.execPath, path] : ["npm"];
}

/**
 * Runs a command in a process group of its own and ends the whole group with it: a task starts servers, engines
 * and workloads as real processes, and Ctrl-C must leave none behind. The group gets each signal once, from
 * here, since the terminal no longer reaches it. A second Ctrl-C kills.
 */
function runGroup(command, args, env = {}) {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: "inherit",
    detached: true,
  });
  const signalGroup = (signal) => {
    try {
      process.kill(-child.pid, signal);
      return true;
    } catch {
      return false;
    }
  };

  let signalledAt;
  const onSignal = (signal) => {
    const now = Date.now();
    if (signalledAt !== undefined && now - signalledAt < sameSignalMs) return;
    signalGroup(signalledAt === undefined ? signal : "SIGKILL");
    signalledAt = now;
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, onSignal);

  return new Promise((resolve) => {
    const finish = (code) => {
      for (const signal of signals) process.off(signal, onSignal);
      resolve(code);
    };
    child.once("error", (error) => {
      say(`cannot run ${command}: ${error.message}`);
      finish(127);
    });
    child.once("exit", async (code, signal) => {
      // After a signal the others in the group had it too and may still be tidying up.
      if (signalledAt === undefined) signalGroup("SIGTERM");
      const deadline = Date.now() + endGraceMs;
      while (signalGroup(0) && Date.now() < deadline) {
        await new Promise((wake) => setTimeout(wake, 50));
      }
      signalGroup("SIGKILL");
      finish(code ?? 128 + constants.signals[signal]);
    });
  });
}
