import { readFileSync } from "node:fs";

/** How many descriptors this process may have open, where the system says it. */
export function descriptorLimit(): number | undefined {
  try {
    return parseDescriptorLimit(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return undefined;
  }
}

export function parseDescriptorLimit(limits: string): number | undefined {
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? undefined : Number(soft);
}
