/** What names may look like: the platform's rules, with the limits where kinds differ. */
import type { Problem } from "./schema.ts";

const dns = /^[a-z]([-a-z0-9])*[a-z0-9]$/;

export function nameProblems(name: string, rules: { max?: number; notEnding?: string } = {}): Problem[] {
  const { max = 63, notEnding } = rules;
  const problem = (message: string): Problem[] => [{ path: "name", message: `"name" ${message}` }];
  if (name === "") return problem("is required");
  if (name.length < 3) return problem("length must be at least 3 characters long");
  if (name.length > max) return problem(`length must be less than or equal to ${max} characters long`);
  if (!dns.test(name)) return problem(`with value "${name}" fails to match the pattern ${dns}`);
  if (notEnding && name.endsWith(notEnding)) return problem(`must not end with "${notEnding}"`);
  return [];
}

const reservedContainers = [
  "istio-proxy",
  "queue-proxy",
  "istio-validation",
  "cpln-envoy-assassin",
  "cpln-writer-proxy",
  "cpln-reader-proxy",
  "cpln-dbaas-config",
];

export function containerNameProblem(name: string): string | undefined {
  if (name.length > 64 || !dns.test(name))
    return `fails to match the pattern ${dns}, of at most 64 characters`;
  if (/^(cpln|debugger)-/.test(name)) return 'must not start with "cpln-" or "debugger-"';
  if (reservedContainers.includes(name)) return "is a reserved name";
  return undefined;
}
