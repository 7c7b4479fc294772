import { asObject, asTexts, at } from "../documents/json.ts";
import { resolveLink, selfLink } from "../documents/links.ts";
import type { Resource } from "../model.ts";
import { anonymous, type Principal } from "../permissions/decide.ts";
import type { ApiContext } from "./context.ts";
import { badToken } from "./errors.ts";
import type { Request } from "./exchange.ts";

export type HeaderForm = "none" | "raw" | "bearer";

export function splitHeader(header: string | undefined): { form: HeaderForm; token: string } {
  if (header === undefined || header.trim() === "") return { form: "none", token: "" };
  const bearer = /^bearer\s+(.*)$/i.exec(header);
  return bearer ? { form: "bearer", token: bearer[1] ?? "" } : { form: "raw", token: header };
}

/** The call never reached the API: the caller's own sidecar cut it. */
export class CutOff extends Error {}

/**
 * Who calls. A service account's token counts in both header forms. A workload's token counts only from the address
 * of the workload it was injected into, and (unless the switch says otherwise) only without a `Bearer` prefix: in
 * any other case the call is anonymous, which no policy can name. A token that nobody knows is a 401.
 */
export function authenticate(request: Request, context: ApiContext): Principal {
  const { form, token } = splitHeader(request.authorization);
  if (form === "none") return anonymous;
  const account = context.tokens.find(token);
  if (account) return account;
  const found = context.platform.workloadOf(token, request.remoteAddress);
  if (!found) throw badToken();
  const workload = context.store.get(found.workload);
  if (found.attested && context.switches.outboundRule === "required" && !reachesApi(workload)) {
    throw new CutOff(`${selfLink(found.workload)} has no outbound firewall rule for the API`);
  }
  if (!found.attested) return anonymous;
  if (form === "bearer" && context.switches.workloadTokenForm === "raw") return anonymous;
  const identity = at(workload, "spec.identityLink");
  const link = typeof identity === "string" ? resolveLink(identity, found.workload) : undefined;
  return link === undefined ? anonymous : { name: link, links: [link] };
}

/** The API's address is nobody's business, so only a rule for everywhere, or for its name, lets a workload out. */
function reachesApi(workload: Resource | undefined): boolean {
  const external = asObject(at(workload, "spec.firewallConfig.external"));
  return (
    asTexts(external.outboundAllowCIDR).some((cidr) => /\/0$/.test(cidr)) ||
    asTexts(external.outboundAllowHostname).some((host) => ["api.cpln.io", "*.cpln.io"].includes(host))
  );
}
