import { Exposure } from "./choices";
import { bareName, nameProblem, newNameProblem, parseLink } from "./contract/links";
import { containerPortProblem, duplicates, isPort, MAX_PORT, publicPortProblem } from "./contract/ports";
import { type Problem, problem } from "./contract/problems";
import { workloadName } from "./naming";
import { isInternal, type PlainArgs } from "./plain-args";
import { listensOf, renderSettings } from "./proxy-settings";
import { mappingsOf, type PlacedMapping, SINGLE_FORM, targetIds, targetsOf } from "./target-list";
import { checkBlank, checkWorkload } from "./workload-checks";

const MAX_CIDRS = 250;
const CIDR =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/(?:[12]?\d|3[0-2]))?|[0-9a-fA-F:]*:[0-9a-fA-F:.]*(?:\/\d{1,3})?)$/;

/**
 * Everything that is wrong with the arguments, each at its own path, as far as it can be told without the platform.
 * `variable` is the argument here.
 */
export function checkArgs(component: string, args: PlainArgs): Problem[] {
  const list = checkTargets(component, args);
  const found = [
    ...checkNames(args),
    ...list,
    ...checkPorts(args),
    ...checkAccess(args),
    ...checkWorkload(args),
    ...checkBlank(args),
  ];
  // What was found is the sharper word: the parser's own about the same argument or mapping would repeat it.
  const said = new Set(found.map(subject));
  if (list.some(({ variable, path }) => variable === "targets" && path.length === 0)) return found;
  const settings = renderSettings(args);
  return settings.ok ? found : [...found, ...settings.problems.filter((each) => !said.has(subject(each)))];
}

/** An argument, or one mapping in it. */
function subject({ variable, path }: Problem): string {
  const depth = { ports: 1, targets: path[1] === "ports" ? 3 : 2 }[variable] ?? 0;
  return JSON.stringify([variable, ...path.slice(0, depth)]);
}

/** What may stand but seldom does what was meant. */
export function adviseArgs(args: PlainArgs): Problem[] {
  const settings = renderSettings(args);
  const advice = settings.ok ? settings.advice : [];
  if (args.image?.includes("@")) {
    const reason =
      "a digest does not tell its version: make sure that this proxy knows the settings rendered here";
    advice.push(problem("invalid", "image", reason));
  }
  return advice;
}

function checkNames(args: PlainArgs): Problem[] {
  const found: Problem[] = [];
  const check = (argument: "gvc" | "workloadName" | "identityName" | "policyName", kind: string) => {
    const name: unknown = args[argument];
    if (name === undefined) return;
    const reason = typeof name !== "string" ? "must be text" : newNameProblem(kind, name);
    if (reason !== undefined) found.push(problem("invalid", argument, reason, { got: name }));
  };
  if (args.gvc === undefined) found.push(problem("missing", "gvc", "is required"));
  else if (typeof args.gvc !== "string" || nameProblem("gvc", args.gvc) !== undefined) {
    const reason =
      typeof args.gvc === "string" ? (nameProblem("gvc", args.gvc) ?? "") : "must be the name of a GVC";
    found.push(problem("invalid", "gvc", reason, { got: args.gvc }));
  }
  check("workloadName", "workload");
  check("identityName", "identity");
  check("policyName", "policy");
  return found;
}

function checkTargets(component: string, args: PlainArgs): Problem[] {
  const targets = targetsOf(args);
  const beside = SINGLE_FORM.filter((name) => args[name] !== undefined);
  if (args.targets !== undefined && beside.length > 0) {
    const names = beside.map((name) => `\`${name}\``).join(", ");
    return [problem("conflict", "targets", `can't stand beside ${names}, which describe an only target`)];
  }
  if (!targets || targets.length === 0) {
    return [problem("invalid", "targets", "must be a list of at least one target", { got: args.targets })];
  }
  const proxy = { gvc: args.gvc, name: args.workloadName ?? workloadName(component) };
  const seen = new Set([JSON.stringify(proxy)]);
  return targets.flatMap(({ target, at }) => {
    const [id] = targetIds({ gvc: args.gvc, targets: [target as PlainArgs] });
    if (!id) return [];
    const key = JSON.stringify({ gvc: id.gvc, name: id.name });
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    const { variable, path } = at("target");
    const itself = key === JSON.stringify(proxy);
    const reason = itself ? "is the proxy itself" : "is given twice: give all of its ports in one place";
    return [problem("conflict", variable, reason, { path, got: target.target })];
  });
}

function checkPorts(args: PlainArgs): Problem[] {
  const mappings = mappingsOf(args);
  const listens = listensOf(args);
  const found = mappings.flatMap((placed, index) => checkMapping(args, placed, listens[index]));
  if (isInternal(args)) return found;
  for (const index of duplicates(mappings.map(({ mapping }) => mapping.port ?? Number.NaN))) {
    const { variable = "ports", path = [], mapping } = mappings[index] ?? {};
    if (mapping?.port === undefined) continue;
    found.push(
      problem("conflict", variable, "is given twice", { path: [...path, "port"], got: mapping.port }),
    );
  }
  return found;
}

function checkMapping(
  args: PlainArgs,
  { mapping: { port, target }, variable, path }: PlacedMapping,
  listen: number | undefined,
): Problem[] {
  const at = (key: string) => [...path, key];
  if (port === undefined) return [problem("missing", variable, "is required", { path: at("port") })];
  const portReason = isInternal(args) ? internalPortProblem(port) : publicPortProblem(port);
  if (portReason !== undefined) {
    return [problem("invalid", variable, portReason, { path: at("port"), got: port })];
  }
  const found: Problem[] = [];
  const listenReason = containerPortProblem(listen ?? port);
  if (listenReason !== undefined) {
    found.push(problem("invalid", variable, listenReason, { path: at("listen"), got: listen }));
  }
  const targetReason = containerPortProblem(target ?? port);
  if (targetReason !== undefined) {
    const reason =
      target === undefined ? `is \`port\` where it is not given, and ${targetReason}` : targetReason;
    found.push(problem("invalid", variable, reason, { path: at("target"), got: target ?? port }));
  }
  return found;
}

const internalPortProblem = (port: number): string | undefined =>
  isPort(port) ? undefined : `must be a port, 1-${MAX_PORT}`;

function checkAccess(args: PlainArgs): Problem[] {
  const found: Problem[] = [];
  const { expose, allow, allowWorkloads, ipset } = args;
  const choices: string[] = Object.values(Exposure);
  if (expose !== undefined && !choices.includes(expose)) {
    found.push(problem("invalid", "expose", `must be one of ${choices.join(", ")}`, { got: expose }));
  }
  if (ipset !== undefined && (typeof ipset !== "string" || bareName(ipset, "ipset") === undefined)) {
    const reason = "must be the name of an IP set, or a link to one";
    found.push(problem("invalid", "ipset", reason, { got: ipset }));
  }
  if (isInternal(args)) {
    const reason = 'has no meaning with `expose: "internal"`, which makes no load balancer';
    if (allow !== undefined) found.push(problem("conflict", "allow", reason, { got: allow }));
    if (ipset !== undefined) found.push(problem("conflict", "ipset", reason, { got: ipset }));
  } else if (allow === undefined) {
    const reason = 'is required: say who may connect, such as ["0.0.0.0/0"] for everybody';
    found.push(problem("missing", "allow", reason));
  } else if (!Array.isArray(allow) || allow.length === 0 || allow.length > MAX_CIDRS) {
    found.push(problem("invalid", "allow", `must be a list of 1 to ${MAX_CIDRS} CIDRs`, { got: allow }));
  } else {
    allow.forEach((cidr: unknown, index) => {
      if (typeof cidr === "string" && CIDR.test(cidr)) return;
      found.push(
        problem("invalid", "allow", "must be a CIDR such as 10.0.0.0/8", { path: [index], got: cidr }),
      );
    });
  }
  if (allowWorkloads !== undefined && !Array.isArray(allowWorkloads)) {
    found.push(problem("invalid", "allowWorkloads", "must be a list of links", { got: allowWorkloads }));
  } else {
    allowWorkloads?.forEach((link: unknown, index) => {
      const parts = typeof link === "string" ? parseLink(link) : undefined;
      if (parts?.kind === "workload" && parts.gvc !== undefined) return;
      const reason = "must be a link to a workload with its GVC, such as //gvc/G/workload/W";
      found.push(problem("invalid", "allowWorkloads", reason, { path: [index], got: link }));
    });
  }
  return found;
}
