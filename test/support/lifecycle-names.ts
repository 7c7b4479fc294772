import dns, { type LookupOptions } from "node:dns";

type Answer = (error: Error | null, address: unknown, family?: number) => void;

const names = new Map<string, () => string>();
const original = dns.lookup;

/** Everything in this process that dials a name looks it up here, as a replica's sidecar would have it. */
function lookup(name: string, options: LookupOptions, answer: Answer): void {
  const find = names.get(name);
  if (find === undefined) {
    (original as (name: string, options: LookupOptions, answer: Answer) => void)(name, options, answer);
    return;
  }
  process.nextTick(() => {
    try {
      const address = find();
      if (options.all) answer(null, [{ address, family: 4 }]);
      else answer(null, address, 4);
    } catch {
      answer(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" }), []);
    }
  });
}

/** Makes a name resolve to what `find` answers at each look; where it throws, there is no such name. */
export function serveName(name: string, find: () => string): () => void {
  names.set(name, find);
  dns.lookup = lookup as typeof dns.lookup;
  return () => {
    names.delete(name);
    if (names.size === 0) dns.lookup = original;
  };
}
