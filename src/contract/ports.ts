/** What the platform allows of ports, and how a listen port is chosen. */

/** The platform's sidecar has these; no container may declare them. */
export const RESERVED_PORTS: readonly number[] = [
  8012, 8022, 9090, 9091, 15000, 15001, 15006, 15020, 15021, 15090, 41000,
];

export const MAX_PORT = 65_535;
/** The lowest port a container may declare. */
export const MIN_CONTAINER_PORT = 80;
/** The lowest port a process without privileges may listen on everywhere. */
export const MIN_UNPRIVILEGED_PORT = 1024;
/** What the direct load balancer can offer to the world. */
export const PUBLIC_PORTS = { min: 22, max: 32_768 } as const;
/** Added to a port that the proxy can't listen on itself. */
export const LISTEN_OFFSET = 10_000;

export const isPort = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= MAX_PORT;

export const isReserved = (port: number): boolean => RESERVED_PORTS.includes(port);

/** Why a container can't declare this port, or undefined when it can. */
export function containerPortProblem(port: number): string | undefined {
  if (!isPort(port)) return `must be a port, 1-${MAX_PORT}`;
  if (port < MIN_CONTAINER_PORT) {
    return `must be ${MIN_CONTAINER_PORT} or above: the platform lets no container declare a lower port`;
  }
  if (isReserved(port)) return "is reserved by the platform's sidecar";
  return undefined;
}

/** Why the load balancer can't offer this port, or undefined when it can. */
export function publicPortProblem(port: number): string | undefined {
  if (Number.isInteger(port) && port >= PUBLIC_PORTS.min && port <= PUBLIC_PORTS.max) return undefined;
  return `must be a port that the direct load balancer can offer, ${PUBLIC_PORTS.min}-${PUBLIC_PORTS.max}`;
}

/** The public port itself where the proxy may listen on it, else 10000 + port. */
export function defaultListen(port: number, taken: ReadonlySet<number>): number {
  const usable = port >= MIN_UNPRIVILEGED_PORT && !isReserved(port) && !taken.has(port);
  return usable ? port : LISTEN_OFFSET + port;
}

/**
 * Listen ports for mappings in order. Ports that a mapping names itself are taken first, whatever its place in the
 * list, so that adding one later never moves the default of another that came before it. What still collides is
 * left as it is: `duplicates` reports it.
 */
export function assignListen(
  mappings: readonly { port: number; listen?: number | undefined }[],
  healthPort: number,
): number[] {
  const taken = new Set<number>([healthPort]);
  for (const { listen } of mappings) if (listen !== undefined) taken.add(listen);
  return mappings.map(({ port, listen }) => {
    if (listen !== undefined) return listen;
    const chosen = defaultListen(port, taken);
    taken.add(chosen);
    return chosen;
  });
}

/** Indexes of the values that an earlier index already holds. */
export function duplicates(values: readonly number[]): number[] {
  const seen = new Set<number>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [index];
    seen.add(value);
    return [];
  });
}
