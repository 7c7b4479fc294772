import { parseLink } from "./contract/links";
import type { PlainArgs, PlainTarget } from "./plain-args";

/** One target as it came, by either way of writing it: nothing about it is certain before it was checked. */
export type RawTarget = Partial<PlainTarget>;

/** One mapping as it came. */
export type RawMapping = Partial<PlainTarget["ports"][number]>;

/** Where an argument stands, for what is said of it. */
export interface Place {
  variable: string;
  path: (string | number)[];
}

export interface PlacedTarget {
  target: RawTarget;
  at(argument: string): Place;
}

export interface PlacedMapping extends Place {
  mapping: RawMapping;
}

type TargetForms = Pick<PlainArgs, "target" | "targetGvc" | "targetHost" | "ports" | "targets">;

/** The arguments that describe an only target, beside which `targets` can't stand. */
export const SINGLE_FORM = ["target", "targetGvc", "targetHost", "ports"] as const;

/** The only target, or those of `targets`. Undefined where that is no list. */
export function targetsOf(args: Partial<TargetForms>): PlacedTarget[] | undefined {
  if (args.targets === undefined) {
    const { target, targetGvc, targetHost, ports } = args;
    const only = { target, targetGvc, targetHost, ports } as RawTarget;
    return [{ target: only, at: (argument) => ({ variable: argument, path: [] }) }];
  }
  const list: unknown = args.targets;
  if (!Array.isArray(list)) return undefined;
  return list.map((each: unknown, index) => ({
    target: typeof each === "object" && each !== null ? (each as RawTarget) : {},
    at: (argument) => ({ variable: "targets", path: [index, argument] }),
  }));
}

/** The mappings of all targets, in order; none of a target whose `ports` is no list. */
export function mappingsOf(args: Partial<TargetForms>): PlacedMapping[] {
  return (targetsOf(args) ?? []).flatMap(({ target, at }) => {
    const ports: unknown = target.ports;
    if (!Array.isArray(ports)) return [];
    const { variable, path } = at("ports");
    return ports.map((each: unknown, index) => ({
      mapping: typeof each === "object" && each !== null ? (each as RawMapping) : {},
      variable,
      path: [...path, index],
    }));
  });
}

/** A target by its bare name and its GVC. */
export interface TargetId {
  gvc: string;
  name: string;
}

export function targetIds(args: Pick<PlainArgs, "gvc"> & Partial<TargetForms>): TargetId[] {
  return (targetsOf(args) ?? []).flatMap(({ target }) => {
    if (typeof target.target !== "string") return [];
    const link = parseLink(target.target);
    const gvc = target.targetGvc ?? link?.gvc ?? args.gvc;
    return [{ gvc, name: link?.name ?? target.target }];
  });
}
