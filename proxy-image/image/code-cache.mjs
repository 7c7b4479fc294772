/**
 * Starts the bundle once, on loopback, and writes down what V8 has compiled by then: just what a start needs. A cache
 * of everything would be larger, and each start reads the whole of it.
 *
 *   node --hash-seed=1 --no-flush-bytecode image/code-cache.mjs BUNDLE CACHE
 *
 * With these flags two caches of one bundle are the same to the last byte.
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createApi } from "node:http";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { asScript } from "../src/as-script.ts";

/** As they are in a process that uses the cache: V8 refuses one that was made under other flags. */
const USUAL_FLAGS = ["--hash-seed=0", "--flush-bytecode"];

const [bundle, cache] = process.argv.slice(2);

const workload = { id: "any", name: "any", version: 1, spec: { defaultOptions: { suspend: true } } };
const api = createApi((_request, response) => response.end(JSON.stringify(workload)));
const apiPort = await listening(api);
const [listen, health] = [await freePort(), await freePort()];

process.env = {
  SETTINGS_VERSION: "1",
  TARGET_1: JSON.stringify({
    workload: "any",
    gvc: "any",
    host: "127.0.0.1",
    ports: [{ listen, target: 22, readiness: "ssh", wakeOn: "fitting" }],
  }),
  HEALTH_PORT: `${health}`,
  // What there is of the other plane, or not, makes no difference.
  DATA_PLANE: "js",
  // Fit in any limit of descriptors.
  ...{ MAX_CONNECTIONS: "100", MAX_CONNECTIONS_TOTAL: "100", MAX_HELD: "100", MAX_HELD_TOTAL: "100" },
  CPLN_ENDPOINT: `http://127.0.0.1:${apiPort}`,
  CPLN_ORG: "any",
  CPLN_GVC: "any",
  CPLN_TOKEN: "any",
};
process.argv = [process.execPath, bundle];

const script = new Script(asScript(readFileSync(bundle, "latin1")), { filename: "main.js" });
await new Promise((started) => {
  process.stdout.write = (line) => {
    if (JSON.parse(line).event !== "started") throw new Error(`not the usual start: ${line}`);
    started();
    return true;
  };
  script.runInThisContext()(createRequire(bundle), bundle, dirname(bundle), true);
});
await ask("readyz");
// Until the first read of the workload has been understood, which every start comes to.
while ((await ask("healthz")).targets[0].phase === "unknown");

for (const flag of USUAL_FLAGS) setFlagsFromString(flag);
writeFileSync(cache, script.createCachedData());
// The proxy would go on.
process.exit(0);

async function ask(path) {
  return (await fetch(`http://127.0.0.1:${health}/${path}`)).json();
}

async function listening(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address().port;
}

async function freePort() {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, "close");
  return port;
}
