import * as pulumi from "@pulumi/pulumi";
import type * as cpln from "@pulumiverse/cpln";
import type { ScaleToZeroTcpArgs } from "./args";
import { adviseArgs, checkArgs } from "./checks";
import { formatPath, formatProblem, type Problem } from "./contract/problems";
import { checkExtraEnv } from "./extra-env";
import { argumentError, secretOnes, settle, withoutEcho } from "./inputs";
import type { PlainArgs } from "./plain-args";
import { type RenderedSettings, renderSettings } from "./proxy-settings";
import { inferences } from "./readiness";
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
  const { env: extra, tags: _, preflight: __, wakeOnDestroy: ___, ...rest } = args ?? {};
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
    ...(pulumi.Output.isInstance(extra) || extra instanceof Promise ? [] : checkExtraEnv(extra)),
  ];
  if (early.length > 0) throw argumentError(name, early, component.constructor as CallableFunction);

  const settled = (known: PlainArgs, secrets: readonly string[]): Settings => {
    const problems = checkArgs(name, known);
    const settings = renderSettings(known);
    if (problems.length > 0 || !settings.ok) throw argumentError(name, withoutEcho(problems, secrets));
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
  };
}

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
