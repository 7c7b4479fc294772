/**
 * The platform names things by bare name or by link, and injects either: `gvc-1`, `//gvc/G/workload/W`,
 * `/org/O/gvc/G/workload/W`, `//location/L`. Everything is taken apart here and nowhere else.
 */

export interface LinkParts {
  org?: string;
  gvc?: string;
  /** Absent for a bare name. */
  kind?: string;
  name: string;
}

const SEGMENT = /^[^/\s]+$/;

/** Undefined when the text is neither a bare name nor a link. */
export function parseLink(text: string): LinkParts | undefined {
  const trimmed = text.trim();
  if (SEGMENT.test(trimmed)) return { name: trimmed };

  const short = trimmed.startsWith("//");
  const segments = trimmed.slice(short ? 2 : 1).split("/");
  if (!trimmed.startsWith("/") || segments.length % 2 !== 0) return undefined;
  if (!segments.every((segment) => SEGMENT.test(segment))) return undefined;

  const parts: Omit<LinkParts, "name"> = {};
  let rest = segments;
  if (!short) {
    if (rest[0] !== "org" || rest[1] === undefined) return undefined;
    if (rest.length === 2) return { kind: "org", name: rest[1] };
    parts.org = rest[1];
    rest = rest.slice(2);
  }
  if (rest[0] === "gvc" && rest.length === 4) {
    if (rest[1] !== undefined) parts.gvc = rest[1];
    rest = rest.slice(2);
  }
  const [kind, name] = rest;
  if (rest.length !== 2 || kind === undefined || name === undefined) return undefined;
  return { ...parts, kind, name };
}

/** The bare name, when the text is one or links to something of this kind. */
export function bareName(text: string, kind: string): string | undefined {
  const link = parseLink(text);
  if (!link || (link.kind !== undefined && link.kind !== kind)) return undefined;
  return link.name;
}

const NAME = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;

export const MAX_WORKLOAD_NAME = 49;
export const MAX_NAME = 63;
const MIN_NEW_NAME = 3;

/** Why nothing on the platform can be called this, or undefined when something may. */
export function nameProblem(kind: string, name: string): string | undefined {
  const max = kind === "workload" ? MAX_WORKLOAD_NAME : MAX_NAME;
  if (name.length > max) return `must be at most ${max} characters long: the platform's limit for a ${kind}`;
  if (!NAME.test(name)) {
    return "must be a name: lower-case letters, digits and hyphens, a letter first, no hyphen last";
  }
  if (kind === "workload" && name.endsWith("-headless")) {
    return 'must not end in "-headless": the platform keeps that for itself';
  }
  return undefined;
}

/** As `nameProblem`, for something that is yet to be made: the provider refuses names of one or two letters. */
export function newNameProblem(kind: string, name: string): string | undefined {
  const problem = nameProblem(kind, name);
  if (problem === undefined && name.length < MIN_NEW_NAME) {
    return `must be at least ${MIN_NEW_NAME} characters long`;
  }
  return problem;
}

export const defaultHost = (workload: string, gvc: string): string => `${workload}.${gvc}.cpln.local`;
