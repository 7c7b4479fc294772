import { formatDuration } from "../contract/durations";
import { parseLink } from "../contract/links";
import { type Problem, problem } from "../contract/problems";
import type { Place, TargetId } from "../target-list";
import { CHECKS, type CheckName } from "./catalogue";
import type { TargetDocument } from "./documents";

/** What the component wants of one target. */
export interface Wanted {
  target: TargetId;
  proxy: TargetId;
  /** The ports that clients are to reach, and where each was asked for. */
  ports: (Place & { number: number })[];
  maxHoldMs: number;
  /** Where an argument about the target stands. */
  at(argument: string): Place;
}

export interface Finding extends Problem {
  check: CheckName;
}

/** What of an existing target won't work with the proxy, each with its remedy. */
export function judgeTarget(document: TargetDocument, wanted: Wanted): Finding[] {
  const { gvc, name } = wanted.target;
  const what = `${gvc}/${name}`;
  const at = wanted.at("target");
  // Nothing that can be told of it: not even what it is.
  if (document.type === undefined) return [];
  if (document.type !== "standard" && document.type !== "stateful") {
    return [finding("type", at, `${what} is of type ${document.type}`)];
  }
  const { metric, maxScale } = document.scale;
  const found: Finding[] = [];
  if (metric === "keda") found.push(finding("scaler", at, `the scale of ${what} belongs to KEDA`));
  else if (maxScale === 0 && document.localOptions.length === 0) {
    found.push(finding("replicas", at, `${what} has no replicas even when it is awake`));
  }
  found.push(...wanted.ports.flatMap((port) => judgePort(document, port, what)));
  if (!letsIn(document, wanted)) {
    const line = `"//gvc/${wanted.proxy.gvc}/workload/${wanted.proxy.name}"`;
    found.push(finding("firewall", at, `${what} does not let the proxy ${line} in`));
  }
  if (document.localOptions.length > 0) {
    const where = document.localOptions.map((each) => each.slice(each.lastIndexOf("/") + 1)).join(", ");
    found.push(
      finding(
        "localOptions",
        at,
        `${what} has options of its own in ${where}, where a suspend has no effect`,
      ),
    );
  }
  if (document.readyAfterMs >= wanted.maxHoldMs) {
    const [ready, held] = [document.readyAfterMs, wanted.maxHoldMs].map(formatDuration);
    const text = `${what} is ready ${ready} after its start at the soonest, and a client is dropped after ${held}`;
    found.push(finding("probes", wanted.at("maxHold"), text));
  }
  return found;
}

function judgePort(document: TargetDocument, port: Wanted["ports"][number], what: string): Finding[] {
  const declared = document.ports.find(({ number }) => number === port.number);
  if (!declared) {
    const others = document.ports.map(({ number }) => number).join(", ") || "none";
    return [finding("undeclared", port, `${what} does not declare port ${port.number}, but ${others}`)];
  }
  if (declared.protocol === "tcp") return [];
  return [finding("protocol", port, `${what} declares port ${port.number} as ${declared.protocol}`)];
}

function letsIn({ firewall }: TargetDocument, { target, proxy }: Wanted): boolean {
  switch (firewall.inboundAllowType) {
    case "same-org":
      return true;
    case "same-gvc":
      return target.gvc === proxy.gvc;
    case "workload-list":
      return firewall.inboundAllowWorkloads.some((text) => {
        const link = parseLink(text);
        return link?.kind === "workload" && link.gvc === proxy.gvc && link.name === proxy.name;
      });
    default:
      return false;
  }
}

/** The GVC of the proxy, whose replicas don't know of each other yet. */
export function judgeGvc(
  name: string,
  locations: readonly string[],
  location: string | undefined,
): Finding[] {
  const at = { variable: "location", path: [] };
  const here = locations.map((each) => each.slice(each.lastIndexOf("/") + 1));
  if (here.length === 0) return [];
  const all = here.join(", ");
  if (location !== undefined) {
    return here.includes(location)
      ? []
      : [finding("locations", at, `${name} is not in ${location}, but in ${all}`)];
  }
  if (here.length === 1) return [];
  const text = `${name} is in ${all}, and the proxies there would not know of each other's clients`;
  return [finding("locations", at, text)];
}

const finding = (check: CheckName, at: Place, text: string): Finding => ({
  ...problem("conflict", at.variable, `${text}: ${CHECKS[check].remedy}`, { path: at.path }),
  check,
});

export const isFatal = ({ check }: Finding): boolean => CHECKS[check].level === "error";
