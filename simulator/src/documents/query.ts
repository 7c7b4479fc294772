import type { Json, JsonObject, Resource } from "../model.ts";
import { asArray, asObject, at, isObject } from "./json.ts";

/** Links of a document as `-query` terms see them (`rel`). */
export interface LinkEntry extends JsonObject {
  rel: string;
  href: string;
}

/** Does a document answer a `-query` spec: `{match: all|any|none, terms: [{op, property|rel|tag, value}]}`? */
export function matchesQuery(
  spec: JsonObject,
  resource: Resource,
  links: readonly LinkEntry[] = [],
): boolean {
  const terms = asArray(spec.terms).map(asObject);
  const holds = (term: JsonObject) => matchesTerm(term, resource, links);
  switch (spec.match ?? "all") {
    case "any":
      return terms.some(holds);
    case "none":
      return !terms.some(holds);
    default:
      return terms.every(holds);
  }
}

function matchesTerm(term: JsonObject, resource: Resource, links: readonly LinkEntry[]): boolean {
  const actual = subject(term, resource, links);
  const wanted = term.value;
  switch (term.op ?? "=") {
    case "=":
      return equal(actual, wanted);
    case "!=":
      return !equal(actual, wanted);
    case "~":
      return actual !== undefined && String(actual).includes(String(wanted));
    case "exists":
      return actual !== undefined;
    case "!exists":
      return actual === undefined;
    case ">":
    case ">=":
    case "<":
    case "<=":
      return actual !== undefined && ordered(String(term.op), compare(actual, wanted));
    default:
      return false;
  }
}

function subject(term: JsonObject, resource: Resource, links: readonly LinkEntry[]): Json | undefined {
  if (typeof term.tag === "string") return asObject(resource.tags)[term.tag];
  if (typeof term.rel === "string") return links.find((link) => link.rel === term.rel)?.href;
  if (typeof term.property === "string") return at(resource, term.property);
  return undefined;
}

const equal = (actual: Json | undefined, wanted: Json | undefined): boolean =>
  actual !== undefined && !isObject(actual) && String(actual) === String(wanted);

function compare(actual: Json, wanted: Json | undefined): number {
  const a = Number(actual);
  const b = Number(wanted);
  if (!Number.isNaN(a) && !Number.isNaN(b)) return a - b;
  return String(actual) < String(wanted) ? -1 : String(actual) > String(wanted) ? 1 : 0;
}

const ordered = (op: string, sign: number): boolean =>
  op === ">" ? sign > 0 : op === ">=" ? sign >= 0 : op === "<" ? sign < 0 : sign <= 0;

/** What is wrong with a query body, if anything. */
export function queryProblem(spec: JsonObject): string | undefined {
  if (!["all", "any", "none", undefined].includes(spec.match as string | undefined)) {
    return '"spec.match" must be one of [all, any, none]';
  }
  const ops = ["=", "!=", "~", ">", ">=", "<", "<=", "exists", "!exists", undefined];
  for (const [index, term] of asArray(spec.terms).map(asObject).entries()) {
    if (!ops.includes(term.op as string | undefined)) return `"spec.terms[${index}].op" is not an operator`;
    if (["tag", "rel", "property"].filter((name) => term[name] !== undefined).length !== 1) {
      return `"spec.terms[${index}]" needs exactly one of [property, rel, tag]`;
    }
  }
  return undefined;
}
