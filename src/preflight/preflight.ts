import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { isAbsence } from "../absence";
import type { ScaleToZeroTcpArgs } from "../args";
import { parseDuration } from "../contract/durations";
import { formatProblem } from "../contract/problems";
import { defaultOf } from "../contract/values";
import { argumentError } from "../inputs";
import { workloadName } from "../naming";
import type { PlainArgs } from "../plain-args";
import type { ResolvedArgs } from "../resolve";
import { checkPreflight } from "../switches";
import { mappingsOf, targetIds, targetsOf } from "../target-list";
import { readWorkload } from "./documents";
import { type Finding, isFatal, judgeGvc, judgeTarget, type Wanted } from "./judge";

const LEFT_ALONE =
  "a destroy will leave the target as it then is, perhaps suspended: docs/drift.md says how to retire it awake";

/**
 * Looks, at preview, at what is there already: what can't work fails the preview, what is unwise is warned about. A
 * target that the same program declares is judged by what the program says of it; one given by name, by what the
 * platform answers. What isn't there yet, or not known, is skipped.
 */
export function preflight(
  name: string,
  args: ScaleToZeroTcpArgs,
  { pick }: Pick<ResolvedArgs, "pick">,
  component: pulumi.Resource,
): void {
  if (args.preflight === false || !pulumi.runtime.isDryRun()) return;
  const wanted = pulumi.all([
    pulumi.output(args.preflight),
    pick("gvc", "target", "targetGvc", "ports", "targets", "location", "maxHold", "workloadName"),
  ]);
  void (async () => {
    if (!(await isKnown(wanted))) return skipped("it depends on values that a preview can't tell", component);
    // What is found names the target: a secret name may not be shown.
    if (await pulumi.isSecret(wanted)) return skipped("it is a secret", component);
    wanted.apply(async ([on, given]) => {
      const problems = checkPreflight(on);
      if (problems.length > 0) throw argumentError(name, problems);
      if (on === false) return;
      if (args.wakeOnDestroy !== true) void pulumi.log.info(LEFT_ALONE, component);
      report(name, await look(name, given, args, component), component);
    });
  })();
}

function report(name: string, found: Finding[], component: pulumi.Resource): void {
  // A warning would be lost when the program ends: with an error, all that was found is in that.
  if (found.some(isFatal)) throw argumentError(name, found);
  for (const each of found) void pulumi.log.warn(formatProblem(each), component);
}

async function look(
  name: string,
  given: PlainArgs,
  args: ScaleToZeroTcpArgs,
  component: pulumi.Resource,
): Promise<Finding[]> {
  const invoke = { parent: component };
  const missing: string[] = [];
  const judged = wantedOf(name, given).map(async (wanted, index) => {
    const document = await documentOf(declared(args, index), wanted, invoke);
    if (typeof document !== "string") return judgeTarget(readWorkload(document), wanted);
    missing.push(`${wanted.target.gvc}/${wanted.target.name} ${document}`);
    return [];
  });
  const gvc = await cpln.getGvc({ name: given.gvc }, invoke).catch((error) => {
    // One that isn't there yet has no locations to judge.
    if (!isAbsence(error)) skipped(`${given.gvc} can't be looked at: ${firstLine(error)}`, component, "GVC");
    return undefined;
  });
  const found = [
    ...judgeGvc(given.gvc, gvc?.locations ?? [], given.location),
    ...(await Promise.all(judged)).flat(),
  ];
  if (missing.length > 0) skipped(missing.join("; "), component);
  return found;
}

function wantedOf(name: string, given: PlainArgs): Wanted[] {
  const proxy = { gvc: given.gvc, name: given.workloadName ?? workloadName(name) };
  return (targetsOf(given) ?? []).flatMap(({ target, at }, index) => {
    const [id] = targetIds({ gvc: given.gvc, targets: [target as PlainArgs] });
    if (!id) return [];
    const own = at("ports");
    const ports = mappingsOf(given)
      .filter(({ variable, path }) => variable === "ports" || path[0] === index)
      .map(({ mapping, path }) => ({
        ...own,
        path: [...path, "target"],
        number: mapping.target ?? mapping.port ?? 0,
      }));
    const maxHold = target.maxHold ?? given.maxHold;
    // What is no duration is refused elsewhere.
    const read = parseDuration(maxHold ?? "");
    const maxHoldMs = read.ok ? read.ms : defaultOf("MAX_HOLD");
    return [
      {
        target: id,
        proxy,
        ports,
        maxHoldMs,
        at: (argument) =>
          argument === "maxHold" && target.maxHold === undefined
            ? { variable: "maxHold", path: [] }
            : at(argument),
      },
    ];
  });
}

/** The workload resource that a target was given as, where that can be seen. */
function declared(args: ScaleToZeroTcpArgs, index: number): cpln.Workload | undefined {
  const list: unknown = args.targets === undefined ? [args] : args.targets;
  const target: unknown = Array.isArray(list) ? list[index]?.target : undefined;
  return pulumi.Resource.isInstance(target) ? (target as cpln.Workload) : undefined;
}

/** The document, or why there is none. */
async function documentOf(
  workload: cpln.Workload | undefined,
  { target }: Wanted,
  invoke: pulumi.InvokeOptions,
): Promise<object | string> {
  if (workload) {
    const { type, containers, options, localOptions, firewallSpec } = workload;
    const document = pulumi.output({ type, containers, options, localOptions, firewallSpec });
    if (!(await isKnown(document))) return "has parts that a preview can't tell";
    return new Promise((resolve) => {
      document.apply((known) => resolve(known));
    });
  }
  try {
    return await cpln.getWorkload(target, invoke);
  } catch (error) {
    return isAbsence(error) ? "is not there yet" : `can't be looked at: ${firstLine(error)}`;
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";

function skipped(why: string, component: pulumi.Resource, what: "target" | "GVC" = "target"): void {
  void pulumi.log.info(`preflight: skipped what depends on the ${what} (${why})`, component);
}

/** Not in the SDK's types, though every output has it. */
const isKnown = (output: pulumi.Output<unknown>): Promise<boolean> =>
  (output as unknown as { isKnown: Promise<boolean> }).isKnown;
