import * as pulumi from "@pulumi/pulumi";
import { formatPath, formatProblem, type Problem, problem } from "./contract/problems";

/** Arguments, split by whether a value can be told now. */
export interface Settled {
  /** What is plain all the way down. */
  plain: Record<string, unknown>;
  /** The arguments that hold an Output or a promise somewhere. */
  deferred: Set<string>;
}

export function settle(args: object): Settled {
  const settled: Settled = { plain: {}, deferred: new Set() };
  for (const [name, value] of Object.entries(args)) {
    if (isDeferred(value)) settled.deferred.add(name);
    else if (value !== undefined && value !== null) settled.plain[name] = value;
  }
  return settled;
}

/** Holds a value, anywhere in it, that can't be told now. */
export function isDeferred(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isOpaque(value) || Object.values(value).some(isDeferred);
}

const isOpaque = (value: object): boolean =>
  pulumi.Output.isInstance(value) || value instanceof Promise || pulumi.Resource.isInstance(value);

/**
 * What no document can hold, wherever it is. Only programs without types come by it; without a word here they would get
 * Node's own, or none.
 */
export function checkData(args: object): Problem[] {
  const walk = (value: unknown, path: (string | number)[]): Problem[] => {
    if (["function", "symbol", "bigint"].includes(typeof value)) {
      const [variable = "", ...rest] = path;
      const reason = `must be text, a number, true or false, a list or a map, and is a ${typeof value}`;
      return [problem("invalid", String(variable), reason, { path: rest })];
    }
    if (typeof value !== "object" || value === null || isOpaque(value)) return [];
    const entries: [string | number, unknown][] = Array.isArray(value)
      ? [...value.entries()]
      : Object.entries(value);
    return entries.flatMap(([key, each]) => walk(each, [...path, key]));
  };
  return walk(args, []);
}

/** Which of these values are secret: what is wrong with them is said without showing them. */
export async function secretOnes(values: Record<string, unknown>): Promise<string[]> {
  const names = Object.keys(values);
  const flags = await Promise.all(names.map((name) => pulumi.isSecret(pulumi.output(values[name]))));
  return names.filter((_, index) => flags[index]);
}

export const withoutEcho = (problems: readonly Problem[], secrets: readonly string[]): Problem[] =>
  problems.map((found) => {
    if (!secrets.includes(found.variable)) return found;
    const { got: _, ...rest } = found;
    return rest;
  });

/**
 * All the problems in one error that the engine can show by property. `thrownBy` is the constructor that the user
 * called: the stack then is that one line of the program.
 */
export function argumentError(
  component: string,
  problems: readonly Problem[],
  thrownBy?: CallableFunction,
): Error {
  const lines = problems.map(formatProblem);
  const errors = problems.map((found, index) => {
    const propertyPath = formatPath([found.variable, ...found.path]);
    return { propertyPath, reason: (lines[index] ?? "").slice(propertyPath.length + 2) };
  });
  const message = [
    `ScaleToZeroTcp "${component}" can't work like this:`,
    ...lines.map((line) => `  ${line}`),
  ];
  const error = new pulumi.InputPropertiesError({ message: message.join("\n"), errors });
  // An unhandled error is printed with all that it holds, which would say everything a second time.
  Object.defineProperty(error, Symbol.for("nodejs.util.inspect.custom"), { value: () => error.stack });
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = thrownBy === undefined ? 0 : 1;
  Error.captureStackTrace(error, thrownBy as (...args: unknown[]) => unknown);
  Error.stackTraceLimit = limit;
  return error;
}
