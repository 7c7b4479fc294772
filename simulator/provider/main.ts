/** `pulumi-resource-cpln`: serves the engine that started it, and prints the port, and nothing else, on stdout. */
import { Provider } from "./provider.ts";
import { serve } from "./rpc/server.ts";

// The engine ends this process when it is done. Should it be killed instead, nobody would.
const engine = process.ppid;
setInterval(() => {
  if (process.ppid !== engine) process.exit();
}, 1_000).unref();

const { port } = await serve(new Provider());
process.stdout.write(`${port}\n`);
