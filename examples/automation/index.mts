/**
 * For a platform team: the same component from a script of one's own, without a project folder. Creates a stack for
 * a workload that exists already, shows what would change, applies it with its progress, prints the outputs; with
 * `destroy` as the first argument it takes all that away again and leaves the workload as it is.
 *
 * Run it after `npm run build`, with CPLN_ORG and CPLN_TOKEN set, and TARGET naming the workload as `gvc/workload`:
 *
 *     TARGET=prod/sftp node examples/automation/index.mts
 *
 * Unlike a program for `pulumi up` it is a module, because Node runs it itself.
 */
import { type EngineEvent, LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { ScaleToZeroTcp } from "cpln-scale-to-zero";

const [gvc = "", target = ""] = (process.env.TARGET ?? "").split("/");
const port = Number(process.env.PORT ?? 22);
const targetPort = Number(process.env.TARGET_PORT ?? 2222);

/** What `pulumi up` would run. */
async function program() {
  const scaleToZero = new ScaleToZeroTcp(target, {
    gvc,
    target,
    ports: [{ port, target: targetPort }],
    allow: (process.env.ALLOW ?? "0.0.0.0/0").split(","),
  });
  const host = scaleToZero.host.apply((known) => known ?? "not known yet");
  return { host, ports: scaleToZero.ports, proxy: scaleToZero.workloadLink };
}

/** One line a step, as it begins and ends. */
function show(event: EngineEvent): void {
  const begun = event.resourcePreEvent?.metadata;
  if (begun && begun.op !== "same") console.log(`${begun.op} ${begun.type} ...`);
  const failed = event.resOpFailedEvent?.metadata;
  if (failed) console.log(`failed: ${failed.op} ${failed.type}`);
  const said = event.diagnosticEvent;
  if (said?.severity === "warning" || said?.severity === "error") console.log(said.message.trimEnd());
}

async function main(): Promise<void> {
  if (gvc === "" || target === "") throw new Error("TARGET must name the workload: TARGET=gvc/workload");
  const stack = await LocalWorkspace.createOrSelectStack({
    stackName: process.env.STACK ?? "dev",
    projectName: "scale-to-zero",
    program,
  });
  if (process.argv[2] === "destroy") {
    await stack.destroy({ onEvent: show });
    console.log(`${target} is left as it is.`);
    return;
  }
  const planned = await stack.preview();
  console.log("planned:", JSON.stringify(planned.changeSummary));
  const { outputs } = await stack.up({ onEvent: show });
  for (const [name, { value }] of Object.entries(outputs)) console.log(`${name}: ${value}`);
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
