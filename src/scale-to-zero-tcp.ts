import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { describeTargets, policySpec } from "./access";
import type { ScaleToZeroTcpArgs } from "./args";
import { parseLink } from "./contract/links";
import { hostOf, internalHost, portsText } from "./endpoint";
import { identityName, policyName, workloadName } from "./naming";
import { preflight } from "./preflight/preflight";
import { resolveArgs } from "./resolve";
import { targetIds } from "./target-list";
import { wakeOnDestroy } from "./wake-on-destroy";
import * as parts from "./workload";

const TYPE = "cpln-scale-to-zero:index:ScaleToZeroTcp";

// Named without values, so that they are there too when a component is looked up by its URN.
const OUTPUTS = {
  workloadLink: undefined,
  identityLink: undefined,
  policyLink: undefined,
  host: undefined,
  ports: undefined,
};

/** What a component made. */
export interface ScaleToZeroTcpResources {
  identity: cpln.Identity;
  policy: cpln.Policy;
  workload: cpln.Workload;
}

// Not a field: every field, private or not, would become an output in the package's schema.
const children = new WeakMap<ScaleToZeroTcp, ScaleToZeroTcpResources>();

/**
 * Keeps a raw-TCP workload suspended while nobody is connected and wakes it while the client waits.
 *
 * It makes an identity, a policy that lets this identity edit exactly the target, or targets, and the proxy workload with its own
 * direct load balancer. What is paid for while idle is the proxy (100m CPU, 128Mi) and the load balancer; the target
 * is not. The target itself is never touched by an update or a destroy: it is left as it is, unless `wakeOnDestroy` says
 * otherwise.
 *
 * The target's own firewall must let the proxy in: see `proxyWorkloadLink`.
 */
export class ScaleToZeroTcp extends pulumi.ComponentResource {
  /** The link of the proxy workload. */
  public readonly workloadLink!: pulumi.Output<string>;
  /** The link of the identity that the proxy acts as. */
  public readonly identityLink!: pulumi.Output<string>;
  /** The link of the policy that lets it edit the target. */
  public readonly policyLink!: pulumi.Output<string>;
  /**
   * The host to connect to. For a public proxy it is absent until the platform has said it, which a later refresh or
   * update records.
   */
  public readonly host!: pulumi.Output<string | undefined>;
  /** The ports to connect to, in the order of `ports`, with commas between: `22` or `22,9000`. */
  public readonly ports!: pulumi.Output<string>;

  constructor(name: string, args: ScaleToZeroTcpArgs, opts?: pulumi.ComponentResourceOptions) {
    super(TYPE, name, OUTPUTS, opts);
    // Looked up rather than made: the engine fills in the outputs.
    if (opts?.urn) return;

    const { pick, rendered, env, tags } = resolveArgs(name, args, this);
    preflight(name, args, { pick }, this);
    const targets = pick("target", "targetGvc", "targets", "gvc").apply(targetIds);
    const only =
      args.targets === undefined
        ? pick("target").apply(({ target }) => parseLink(target)?.name ?? target)
        : undefined;
    const gvc = pick("gvc").apply((given) => given.gvc);
    const common = {
      description: targets.apply(describeTargets),
      ...(tags === undefined ? {} : { tags }),
    };

    const identity = new cpln.Identity(
      `${name}-identity`,
      {
        name: pick("identityName").apply((given) => given.identityName ?? identityName(name)),
        gvc,
        ...common,
      },
      { parent: this },
    );

    // The provider's own links are never secret, even where the names in them are.
    const identityLink = asSecretAs(identity.selfLink, identity.name, identity.gvc);

    const policy = new cpln.Policy(
      `${name}-policy`,
      {
        name: pick("policyName", "gvc").apply((given) => given.policyName ?? policyName(name, given.gvc)),
        ...policySpec({ targets, only }, identity),
        ...common,
      },
      { parent: this },
    );

    const waker = args.wakeOnDestroy === true ? [wakeOnDestroy(name, targets, identity, this)] : [];
    const listens = rendered.apply((settings) => settings.listens);
    const size = pick("cpu", "memory").apply(parts.sizeOf);
    const probes = pick("healthPort").apply(parts.probes);
    const workload = new cpln.Workload(
      `${name}-proxy`,
      {
        name: pick("workloadName").apply((given) => given.workloadName ?? workloadName(name)),
        gvc,
        type: "standard",
        identityLink,
        containers: [
          {
            name: "proxy",
            image: pick("image").apply(parts.imageOf),
            cpu: size.cpu,
            memory: size.memory,
            inheritEnv: false,
            env,
            ports: pulumi
              .all([pick("exposeHealth", "healthPort"), listens])
              .apply(([given, own]) => parts.containerPorts(given, own)),
            readinessProbe: probes.readinessProbe,
            livenessProbe: probes.livenessProbe,
            lifecycle: parts.lifecycle(),
          },
        ],
        options: pick("location").apply(parts.options),
        localOptions: maybe(pick("location").apply(parts.localOptions)),
        firewallSpec: pick("expose", "allow", "allowWorkloads").apply(parts.firewallSpec),
        loadBalancer: maybe(
          pulumi
            .all([pick("expose", "ports", "targets", "ipset"), listens])
            .apply(([given, ports]) => parts.loadBalancer(given, ports)),
        ),
        rolloutOptions: pick("terminationGracePeriodSeconds").apply(parts.rolloutOptions),
        ...common,
      },
      // A proxy that comes up before it may wake anything would hold its first clients in vain.
      { parent: this, dependsOn: [policy, ...waker] },
    );

    children.set(this, { identity, policy, workload });
    this.workloadLink = asSecretAs(workload.selfLink, workload.name, workload.gvc);
    this.identityLink = identityLink;
    this.policyLink = asSecretAs(policy.selfLink, policy.name);
    this.host = pulumi
      .all([pick("expose"), workload.name, workload.gvc, workload.statuses])
      .apply(([given, proxy, inGvc, statuses]) => internalHost(given, proxy, inGvc) ?? hostOf(statuses));
    this.ports = pulumi
      .all([pick("expose", "ports", "targets"), listens])
      .apply(([given, own]) => portsText(given, own));
    this.registerOutputs({
      workloadLink: this.workloadLink,
      identityLink: this.identityLink,
      policyLink: this.policyLink,
      host: this.host,
      ports: this.ports,
    });
  }

  /** The resources that the component made, for what its arguments don't reach. */
  public resources(): ScaleToZeroTcpResources {
    const made = children.get(this);
    if (!made)
      throw new pulumi.ResourceError("a component that was looked up has no resources of its own", this);
    return made;
  }
}

// An output that turns out undefined leaves the property out, which the SDK's types don't say.
const maybe = <T>(value: pulumi.Output<T | undefined>): pulumi.Output<T> => value as pulumi.Output<T>;

/** The same text, and a secret where one of these is. */
const asSecretAs = (text: pulumi.Output<string>, ...others: pulumi.Output<string>[]): pulumi.Output<string> =>
  pulumi.all([text, ...others]).apply(([own = ""]) => own);
