/**
 * A dual-stack listener sees IPv4 peers as `::ffff:192.0.2.1`, in either spelling. Everything behind the listener
 * sees them as plain IPv4.
 */
export function normaliseAddress(address: string | undefined): string {
  if (address === undefined) return "";
  const bare = address.replace(/%.*$/, "").toLowerCase();
  const dotted = /^(?:::|(?:0{1,4}:){5})ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1];
  if (dotted !== undefined) return dotted;
  const hex = /^(?:::|(?:0{1,4}:){5})ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(bare);
  if (!hex) return bare;
  const high = Number.parseInt(hex[1] ?? "0", 16);
  const low = Number.parseInt(hex[2] ?? "0", 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

const GROUPS = 8;

/** Enough of an address to tell networks apart, not people: `192.0.2.0/24`, `2001:db8:1::/48`. */
export function shortenAddress(address: string): string {
  const normal = normaliseAddress(address);
  const v4 = /^(\d+\.\d+\.\d+)\.\d+$/.exec(normal)?.[1];
  if (v4 !== undefined) return `${v4}.0/24`;
  if (!normal.includes(":")) return normal === "" ? "unknown" : normal;
  const [head = "", tail] = normal.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? 0 : Math.max(0, GROUPS - left.length - right.length);
  const groups = [...left, ...Array<string>(gap).fill("0"), ...right].slice(0, 3);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/48`;
}
