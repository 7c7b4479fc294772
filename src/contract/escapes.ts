const ESCAPES: Readonly<Record<string, number>> = { r: 13, n: 10, t: 9, "0": 0, "\\": 92 };
const PIECE = /\\x(?<code>[0-9a-fA-F]{2})|\\(?<char>[^x])|(?<plain>[^\\]+)|(?<stray>\\)/gsu;

/** Text with escapes as hex, or undefined where an escape is none. Characters beyond ASCII are UTF-8. */
export function fromEscapes(escaped: string): string | undefined {
  let hex = "";
  for (const { groups = {} } of escaped.matchAll(PIECE)) {
    const { code, char, plain } = groups;
    if (code !== undefined) hex += code.toLowerCase();
    else if (plain !== undefined) hex += toHex(new TextEncoder().encode(plain));
    else {
      const byte = char === undefined ? undefined : ESCAPES[char];
      if (byte === undefined) return undefined;
      hex += toHex([byte]);
    }
  }
  return hex;
}

const toHex = (bytes: Iterable<number>): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
