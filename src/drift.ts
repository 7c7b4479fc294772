import * as pulumi from "@pulumi/pulumi";
import * as cpln from "@pulumiverse/cpln";
import { isAbsence } from "./absence";

/**
 * `suspend` belongs to the proxy once the component is there. Two ways to tell Pulumi so; take one of them.
 *
 * `ignoreChanges: ignoreSuspend` on the target, together with `options: { refresh: always }` in `Pulumi.yaml`, shows
 * no difference after a wake or a suspend. Without the refresh, an update of another property sends the value that
 * was last recorded.
 */
export const ignoreSuspend: string[] = ["options.suspend"];

/** The target whose state is read. */
export interface LiveSuspendArgs {
  gvc: pulumi.Input<string>;
  name: pulumi.Input<string>;
}

/**
 * Whether the target is suspended now, for its own `options: { suspend: liveSuspend({...}) }`: right on every update
 * without a refresh, at the price of a difference in `options.suspend` after each flip. False where the target does
 * not exist yet, so that it is made awake.
 */
export function liveSuspend(args: LiveSuspendArgs, opts?: pulumi.InvokeOptions): pulumi.Output<boolean> {
  return pulumi.all([args.gvc, args.name]).apply(async ([gvc, name]) => {
    try {
      const workload = await cpln.getWorkload({ gvc, name }, opts);
      return workload.options?.[0]?.suspend ?? false;
    } catch (error) {
      if (isAbsence(error)) return false;
      throw error;
    }
  });
}
