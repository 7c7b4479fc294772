import * as pulumi from "@pulumi/pulumi";
import type * as cpln from "@pulumiverse/cpln";
import type { TargetId } from "./target-list";

interface Targets {
  /** Whole links. */
  targets: string[];
}

/**
 * Un-suspends the targets when it is deleted. This code is kept in the stack's state and run by whoever destroys,
 * without the program: it may use nothing but what Node itself has, and takes the token from the environment there.
 */
const provider: pulumi.dynamic.ResourceProvider<Targets, Targets> = {
  async create(inputs) {
    return { id: "wake-on-destroy", outs: inputs };
  },
  async diff(_id, olds, news) {
    return { changes: JSON.stringify(olds.targets) !== JSON.stringify(news.targets) };
  },
  async update(_id, _olds, news) {
    return { outs: news };
  },
  async delete(_id, { targets }) {
    const token = process.env.CPLN_TOKEN;
    const endpoint = (process.env.CPLN_ENDPOINT ?? "https://api.cpln.io").replace(/\/+$/, "");
    if (!token) {
      throw new Error(
        `CPLN_TOKEN is not set, so ${targets.join(", ")} can't be woken: set it and destroy again`,
      );
    }
    for (const link of targets) {
      const response = await fetch(`${endpoint}${link}`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ spec: { defaultOptions: { suspend: false } } }),
      });
      // A target that is gone needs no waking.
      if (!response.ok && response.status !== 404) {
        throw new Error(`${link} was not woken: ${response.status} ${await response.text()}`);
      }
    }
  },
};

class WakeOnDestroy extends pulumi.dynamic.Resource {
  constructor(name: string, targets: pulumi.Input<string[]>, opts: pulumi.CustomResourceOptions) {
    super(provider, name, { targets }, opts);
  }
}

/** To be a dependency of the proxy, so that nothing suspends the targets again after they were woken. */
export function wakeOnDestroy(
  name: string,
  targets: pulumi.Output<TargetId[]>,
  identity: cpln.Identity,
  component: pulumi.Resource,
): pulumi.Resource {
  const links = pulumi.all([targets, identity.selfLink]).apply(([all, link]) => {
    const org = link.split("/", 3).join("/");
    return all.map(({ gvc, name: workload }) => `${org}/gvc/${gvc}/workload/${workload}`);
  });
  return new WakeOnDestroy(`${name}-wake-on-destroy`, links, { parent: component });
}
