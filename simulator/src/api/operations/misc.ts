import { parseLink, selfLink } from "../../documents/links.ts";
import type { ApiContext } from "../context.ts";
import { notFound } from "../errors.ts";
import { type Operation, readOnly } from "../exchange.ts";
import { mustGet, needOf } from "./read.ts";

/** What clients ask before they log in. There is nothing behind it here. */
export const discovery = (): Operation => ({
  name: "discovery",
  open: true,
  plan: () => readOnly(() => ({ status: 200, body: { firebase: { apiKey: "none" }, endpoints: {} } })),
});

/** Replica names of a workload in one location, or in all: what `status.remote` of a deployment leads to. */
export function replicas(
  location: string | undefined,
  path: readonly string[],
  context: ApiContext,
): Operation {
  const link = `/${path.join("/")}`;
  const key = parseLink(link);
  if (key?.kind !== "workload") throw notFound(link);
  return {
    name: "list replicas",
    need: () => needOf(key, "view", context),
    plan: () => {
      mustGet(key, context);
      return readOnly(() => {
        const names = context.platform.deployments(key).map((deployment) => String(deployment.name));
        if (location !== undefined && !names.includes(location)) {
          throw notFound(`${selfLink(key)}/deployment/${location}`);
        }
        const items = (location === undefined ? names : [location]).flatMap((name) =>
          context.platform.replicas(key, name),
        );
        return { status: 200, body: { items, links: [] } };
      });
    },
  };
}
