import * as pulumi from "@pulumi/pulumi";
import type * as cpln from "@pulumiverse/cpln";
import type { ScaleToZeroTcpArgs } from "./args";
import { adviseArgs, checkArgs } from "./checks";
import { allSettings } from "./contract/catalogue";
import { formatPath, formatProblem, type Problem } from "./contract/problems";
import { argumentError, checkData, isDeferred, secretOnes, settle, withoutEcho } from "./inputs";
import { checkExtraEnv, checkTags } from "./maps";
import type { PlainArgs } from "./plain-args";
import { type RenderedSettings, renderSettings } from "./proxy-settings";
import { inferences } from "./readiness";
import { checkPreflight, checkWakeOnDestroy } from "./switches";
import type { TargetArgs } from "./target-args";

type Settings = Extract<RenderedSettings, { ok: true }>;

export interface ResolvedArgs {
  /**
   * Some arguments, once known. Each property of a child takes only what it follows from, so that one unknown or
   * secret argument leaves the rest of a preview readable.
   */
  pick<K extends keyof PlainArgs>(...names: K[]): pulumi.Output<Pick<PlainArgs, K>>;
  /** The settings, once every argument was found right. */
  rendered: pulumi.Output<Settings>;
  /** The container's environment: what the user adds and the settings. */
  env: pulumi.Output<Record<string, string>>;
  tags: pulumi.Output<Record<string, string>> | undefined;
}

/** Which arguments' problems can't be judged while another one is unknown. */
const JUDGED_WITH: Record<string, string[]> = {
  expose: ["allow", "ipset", "ports", "targets"],
  healthPort: ["ports", "targets"],
  earlyBytes: ["ports", "targets"],
  gvc: ["target", "targetGvc", "targets"],
  target: ["targetGvc", "targets"],
  targetGvc: ["target", "targets"],
  targets: ["target", "ports"],
  workloadName: ["target", "targets"],
};

/**
 * Plain values are checked at once, so that a wrong one throws where it was written; what is known later is checked
 * then, with the same words.
 */
export function resolveArgs(
  name: string,
  args: ScaleToZeroTcpArgs,
  component: pulumi.Resource,
): ResolvedArgs {
  const thrownBy = component.constructor as CallableFunction;
  const alien = checkData(args ?? {});
  if (alien.length > 0) throw argumentError(name, alien, thrownBy);
  const { env: extra, tags, preflight, wakeOnDestroy, ...rest } = args ?? {};
  const { plain, deferred } = settle(rest);
  if (pulumi.Resource.isInstance(rest.target)) {
    deferred.add("target");
    Object.assign(rest, named(rest));
  }
  if (rest.targets !== undefined) rest.targets = namedTargets(rest.targets);
  const normal: Record<string, unknown> = rest;

  const unjudged = new Set([...deferred, ...[...deferred].flatMap((each) => JUDGED_WITH[each] ?? [])]);
  const early = [
    ...checkArgs(name, plain as unknown as PlainArgs).filter(({ variable }) => !unjudged.has(variable)),
    ...checkExtraEnv(isWhole(extra) ? extra : undefined),
    ...checkTags(isWhole(tags) ? tags : undefined),
    ...checkPreflight(isDeferred(preflight) ? undefined : preflight),
    ...checkWakeOnDestroy(wakeOnDestroy),
  ];
  if (early.length > 0) throw argumentError(name, early, thrownBy);

  const settled = (known: PlainArgs, secrets: readonly string[]): Settings => {
    const problems = checkArgs(name, known);
    const settings = renderSettings(known);
    if (problems.length > 0 || !settings.ok) throw argumentError(name, withoutEcho(problems, secrets));
    // What is said of one setting may quote another, or a port.
    if (secrets.some(isQuoted)) return settings;
    for (const advice of withoutEcho(adviseArgs(known), secrets)) warn(advice, component);
    for (const { variable, path, text } of inferences(known)) {
      void pulumi.log.info(`${formatPath([variable, ...path])}: ${text}`, component);
    }
    return settings;
  };
  const rendered =
    deferred.size === 0
      ? pulumi.output(settled(plain as unknown as PlainArgs, []))
      : pulumi
          .all([pulumi.output(normal), secretOnes(normal)])
          .apply(([known, secrets]) => settled(settle(known).plain as unknown as PlainArgs, secrets));

  return {
    pick: (...names) =>
      pulumi
        .output(Object.fromEntries(names.map((each) => [each, normal[each]])))
        .apply((known) => settle(known).plain) as unknown as pulumi.Output<never>,
    rendered: rendered as pulumi.Output<Settings>,
    env: pulumi.all([rendered, pulumi.output(extra ?? {})]).apply(([settings, added]) => {
      const problems = checkExtraEnv(added);
      if (problems.length > 0) throw argumentError(name, problems);
      return { ...(added as Record<string, string>), ...settings.environment };
    }),
    tags:
      tags === undefined
        ? undefined
        : pulumi.output(tags).apply((known) => {
            const problems = checkTags(known);
            if (problems.length > 0) throw argumentError(name, problems);
            return known;
          }),
  };
}

/** A map that is there, though values in it may not be. */
const isWhole = (map: unknown): boolean => !pulumi.Output.isInstance(map) && !(map instanceof Promise);

/** Arguments that advice and inferences read. */
const isQuoted = (argument: string): boolean =>
  ["ports", "targets", "terminationGracePeriodSeconds"].includes(argument) ||
  allSettings().some((setting) => setting.argument === argument);

/** A workload given as itself, by its name and its GVC. */
function named<T extends Pick<TargetArgs, "targetGvc"> & { target?: unknown }>(args: T): T {
  if (!pulumi.Resource.isInstance(args?.target)) return args;
  const { name, gvc } = args.target as cpln.Workload;
  return { ...args, target: name, targetGvc: args.targetGvc ?? gvc };
}

function namedTargets(targets: NonNullable<ScaleToZeroTcpArgs["targets"]>): typeof targets {
  const each = (target: pulumi.Input<TargetArgs>): pulumi.Input<TargetArgs> =>
    pulumi.Output.isInstance(target) || target instanceof Promise
      ? pulumi.output(target).apply((known) => named(known as TargetArgs) as never)
      : named(target);
  if (Array.isArray(targets)) return targets.map(each);
  if (!pulumi.Output.isInstance(targets) && !(targets instanceof Promise)) return targets;
  return pulumi.output(targets).apply((known) => (known as TargetArgs[]).map(each) as never);
}

const warn = (advice: Problem, component: pulumi.Resource): void => {
  void pulumi.log.warn(formatProblem(advice), component);
};
