/** `npm run simulator`: a local Control Plane to look at, deploy to, and break by hand. */
import { parseArgs } from "node:util";
import type { AnySimulator } from "./control/commands.ts";
import { help, startControl } from "./control/server.ts";
import { nothingRuns, type SimulatorOptions, startSimulator } from "./index.ts";
import type { LogLine } from "./platform/index.ts";

const usage = `Usage: npm run simulator -- [options]

  --org <name>            default local
  --gvc <name>            may be given several times; default demo
  --location <name>       may be given several times; default aws-us-west-2
  --port <n>              of the API; a free one by default
  --control-port <n>      of the control endpoint; a free one by default
  --token <text>          the deployer's token; a made-up one by default
  --documents-only        run no workloads
  --quiet                 don't print what containers write
`;

const { values } = parseArgs({
  options: {
    org: { type: "string" },
    gvc: { type: "string", multiple: true },
    location: { type: "string", multiple: true },
    port: { type: "string", default: "0" },
    "control-port": { type: "string", default: "0" },
    token: { type: "string" },
    "documents-only": { type: "boolean", default: false },
    quiet: { type: "boolean", default: false },
    help: { type: "boolean" },
  },
});

if (values.help) {
  process.stdout.write(usage);
} else {
  await run();
}

function printLine({ replica, container, text }: LogLine): void {
  process.stdout.write(`[${replica}/${container}] ${text}\n`);
}

async function run(): Promise<void> {
  const options: SimulatorOptions = {
    port: Number(values.port),
    ...(values.org === undefined ? {} : { org: values.org }),
    ...(values.gvc === undefined ? {} : { gvcs: values.gvc }),
    ...(values.location === undefined ? {} : { locations: values.location }),
    ...(values.token === undefined ? {} : { deployerToken: values.token }),
    workloads: values.quiet ? {} : { onLog: printLine },
  };
  const simulator: AnySimulator = values["documents-only"]
    ? await startSimulator({ ...options, platform: nothingRuns })
    : await startSimulator(options);
  const control = await startControl(simulator, { port: Number(values["control-port"]) });
  process.stdout.write(`A local Control Plane is up.

  API            ${simulator.apiUrl}
  org            ${simulator.org}
  deployer token ${simulator.deployerToken}
  control        ${control.url}

For the provider and the cpln command line:

  export CPLN_ENDPOINT=${simulator.apiUrl} CPLN_ORG=${simulator.org} CPLN_TOKEN=${simulator.deployerToken}

${help()}
For instance, hold the next change of a workload back, and let it go:

  curl -d '{"do": "stop", "match": {"method": "PATCH", "path": "/workload/"}}' ${control.url}/faults
  curl -X POST ${control.url}/faults/1/release

Ctrl-C ends it.
`);
  let phase: "up" | "ending" = "up";
  const end = async (): Promise<void> => {
    if (phase === "ending") return;
    phase = "ending";
    await control.dispose();
    await simulator.dispose();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void end());
}
