import { asObject, asText, asTexts, at, sameJson } from "../../documents/json.ts";
import { parseLink, resolveLink, selfLink } from "../../documents/links.ts";
import { nameProblems } from "../../documents/names.ts";
import { workloadFields } from "../../documents/workload-fields.ts";
import { normaliseWorkload } from "../../documents/workload-normalise.ts";
import { workloadProblems } from "../../documents/workload-rules.ts";
import type { Resource } from "../../model.ts";
import { permissionsOf } from "../../permissions/catalogue.ts";
import type { Need } from "../../permissions/decide.ts";
import { workloadActions } from "../operations/workload-actions.ts";
import type { CheckContext, ResourceKind } from "../resource-kind.ts";

export const kind: ResourceKind = {
  kind: "workload",
  scope: "gvc",
  permissions: permissionsOf(
    ["configureLoadBalancer", "connect", "exec", "exec.runCronWorkload", "exec.stopReplica"],
    { exec: ["exec.runCronWorkload", "exec.stopReplica"] },
  ),
  fields: workloadFields,
  ignored: ["status", "health"],
  checkName: (name) => nameProblems(name, { max: 49, notEnding: "-headless" }),
  normalise: normaliseWorkload,
  check: (workload, before, at) => [...workloadProblems(workload, before), ...linkProblems(workload, at)],
  needs,
  references: (workload, key) =>
    ["spec.identityLink", "spec.loadBalancer.direct.ipSet"]
      .map((path) => asText(at(workload, path)))
      .filter((link) => link !== undefined)
      .map((link) => resolveLink(link, key) ?? `/org/${key.org}/ipset/${link}`),
  present: (workload, key, { platform }) => ({ ...workload, ...platform.workloadStatus(key) }),
  links: (key) => [{ rel: "deployment", href: `${selfLink(key)}/deployment` }],
  actions: workloadActions,
};

/** The linked identity must exist, in the workload's own GVC. */
function linkProblems(workload: Resource, { key, context }: CheckContext) {
  const link = asText(at(workload, "spec.identityLink"));
  if (link === undefined) return [];
  const identity = parseLink(link);
  const path = "spec.identityLink";
  const sound = identity?.kind === "identity" && identity.org === key.org && identity.gvc === key.gvc;
  if (sound && context.store.get(identity)) return [];
  return [{ path, message: `"${path}" ${link} is not an identity of ${key.gvc}` }];
}

/** Rights that a workload's own members ask for, when they are set or changed. */
function needs(workload: Resource, before: Resource | undefined, { key, context }: CheckContext): Need[] {
  const changed = (path: string) => !sameJson(at(workload, path), at(before, path));
  const needs: Need[] = [];
  if (changed("spec.loadBalancer.direct")) {
    needs.push({
      org: key.org,
      kind: "workload",
      permission: "configureLoadBalancer",
      link: selfLink(key),
      resource: before,
      wholeKind: before === undefined,
    });
  }
  const identity = asText(at(workload, "spec.identityLink"));
  const identityKey = identity === undefined ? undefined : parseLink(identity);
  if (identityKey && changed("spec.identityLink")) {
    needs.push({
      org: key.org,
      kind: "identity",
      permission: "use",
      link: selfLink(identityKey),
      resource: context.store.get(identityKey),
    });
  }
  return [...needs, ...listedWorkloads(workload, before, { key, context })];
}

/** Letting other workloads in needs `view` on each of them. */
function listedWorkloads(
  workload: Resource,
  before: Resource | undefined,
  { key, context }: CheckContext,
): Need[] {
  const listed = (document: Resource | undefined) =>
    asTexts(asObject(at(document, "spec.firewallConfig.internal")).inboundAllowWorkload);
  const known = listed(before);
  return listed(workload)
    .filter((link) => !known.includes(link))
    .flatMap((link): Need[] => {
      const other = parseLink(resolveLink(link, { org: key.org }) ?? "");
      if (other?.kind !== "workload") return [];
      return [
        {
          org: other.org,
          kind: "workload",
          permission: "view",
          link: selfLink(other),
          resource: context.store.get(other),
        },
      ];
    });
}
