/**
 * For a platform team: the same component from a script of one's own, without a project folder. For each workload that
 * exists already it creates a stack, shows what would change, applies it with its progress, and prints the outputs;
 * all tenants in parallel, each with a stack and a state of its own. With `destroy` as the first argument it takes all
 * that away again and leaves the workloads as they are.
 *
 * Run it after `npm run build`, with CPLN_ORG and CPLN_TOKEN set, and TARGETS naming workloads as `gvc/workload`:
 *
 *     TARGETS=prod/sftp,staging/sftp node examples/automation/index.mts
 *
 * Unlike a program for `pulumi up` it is a module, because Node runs it itself.
 */
import { type EngineEvent, LocalWorkspace, type Stack } from "@pulumi/pulumi/automation/index.js";
import { ScaleToZeroTcp } from "cpln-scale-to-zero";

const port = Number(process.env.PORT ?? 22);
const targetPort = Number(process.env.TARGET_PORT ?? 2222);
const allow = (process.env.ALLOW ?? "0.0.0.0/0").split(",");

interface Tenant {
  gvc: string;
  target: string;
}

function tenants(): Tenant[] {
  const named = (process.env.TARGETS ?? "").split(",").filter((each) => each !== "");
  if (named.length === 0)
    throw new Error("TARGETS must name the workloads: TARGETS=gvc/workload,gvc/workload");
  return named.map((each) => {
    const [gvc = "", target = ""] = each.split("/");
    return { gvc, target };
  });
}

/** What `pulumi up` would run. */
const programFor =
  ({ gvc, target }: Tenant) =>
  async () => {
    const scaleToZero = new ScaleToZeroTcp(target, {
      gvc,
      target,
      ports: [{ port, target: targetPort }],
      allow,
    });
    const host = scaleToZero.host.apply((known) => known ?? "not known yet");
    return { host, ports: scaleToZero.ports, proxy: scaleToZero.workloadLink };
  };

/** One line a step, as it begins. */
const showAs =
  (stack: string) =>
  (event: EngineEvent): void => {
    const begun = event.resourcePreEvent?.metadata;
    if (begun && begun.op !== "same") console.log(`${stack}: ${begun.op} ${begun.type} ...`);
    const failed = event.resOpFailedEvent?.metadata;
    if (failed) console.log(`${stack}: failed: ${failed.op} ${failed.type}`);
    const said = event.diagnosticEvent;
    if (said?.severity === "warning" || said?.severity === "error") {
      console.log(`${stack}: ${said.message.trimEnd()}`);
    }
  };

async function deploy(stack: Stack): Promise<void> {
  const onEvent = showAs(stack.name);
  const planned = await stack.preview({ onEvent: () => {} });
  console.log(`${stack.name}: planned: ${JSON.stringify(planned.changeSummary)}`);
  const { outputs } = await stack.up({ onEvent });
  for (const [name, { value }] of Object.entries(outputs)) console.log(`${stack.name}: ${name}: ${value}`);
}

async function destroy(stack: Stack): Promise<void> {
  await stack.destroy({ onEvent: showAs(stack.name), remove: true });
  console.log(`${stack.name}: the workload is left as it is.`);
}

async function main(): Promise<void> {
  const act = process.argv[2] === "destroy" ? destroy : deploy;
  // One tenant's failure is said at the end and leaves the others alone.
  const done = await Promise.allSettled(
    tenants().map(async (tenant) => {
      const stack = await LocalWorkspace.createOrSelectStack({
        stackName: `${tenant.gvc}-${tenant.target}`,
        projectName: "scale-to-zero",
        program: programFor(tenant),
      });
      await act(stack);
    }),
  );
  const failed = done.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  for (const reason of failed) console.error(reason instanceof Error ? reason.message : reason);
  if (failed.length > 0) process.exitCode = 1;
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
