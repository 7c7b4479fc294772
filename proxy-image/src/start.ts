/**
 * The image's entry: main.js from its code cache, main.cache, which its build has made. A third of the CPU that a start
 * needs beyond Node's own goes into compiling. Without a cache, or with one of another V8, main.js is loaded as usual.
 */
import { readFileSync } from "node:fs";
import { Script } from "node:vm";
import { asScript, type Program } from "./as-script";

const bundle = `${__dirname}/main.js`;

function fromCache(): Program | undefined {
  try {
    const cachedData = readFileSync(`${__dirname}/main.cache`);
    const script = new Script(asScript(readFileSync(bundle, "latin1")), { filename: bundle, cachedData });
    return script.cachedDataRejected === false ? script.runInThisContext() : undefined;
  } catch {
    return undefined;
  }
}

const program = fromCache();
if (program === undefined) require(bundle);
else program(require, bundle, __dirname, true);
