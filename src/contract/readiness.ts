import { fromEscapes } from "./escapes";
import type { WakeOn } from "./settings";

/**
 * How a port proves that the application itself answers, and what of a client wakes it: the grammar of `readiness`
 * and `wakeOn`. The probes themselves are in the proxy, one file a protocol.
 */

interface Kind {
  /** Who has to say something before the other side does. */
  first: "server" | "client" | "unknown";
  /** Its clients speak at once, whether or not the server speaks first. */
  atOnce: boolean;
  /** The proxy knows what a client's first message looks like. */
  fits: boolean;
  /** The keys beside `kind`. */
  options: readonly OptionName[];
  meaning: string;
}

type OptionName = keyof typeof OPTIONS;

const serverFirst = { first: "server", atOnce: false, fits: false, options: [] } as const;
const clientFirst = { first: "client", atOnce: true, fits: true, options: [] } as const;

export const PROTOCOLS = {
  ssh: { ...serverFirst, atOnce: true, fits: true, meaning: "SSH and SFTP" },
  smtp: { ...serverFirst, meaning: "SMTP and LMTP" },
  ftp: { ...serverFirst, meaning: "FTP's control connection" },
  imap: { ...serverFirst, meaning: "IMAP" },
  pop3: { ...serverFirst, meaning: "POP3" },
  mysql: { ...serverFirst, meaning: "MySQL and MariaDB" },
  postgres: { ...clientFirst, options: ["user", "database"], meaning: "PostgreSQL" },
  redis: { ...clientFirst, meaning: "Redis, Valkey and what speaks like them" },
  mqtt: { ...clientFirst, meaning: "MQTT" },
  amqp: { ...clientFirst, meaning: "AMQP 0-9-1 and 1.0" },
  http: { ...clientFirst, options: ["method", "path", "host"], meaning: "HTTP without TLS" },
  tls: { ...clientFirst, options: ["serverName"], meaning: "anything inside TLS, HTTPS among it" },
  minecraft: { ...clientFirst, meaning: "Minecraft, Java edition" },
  memcached: { ...clientFirst, meaning: "memcached" },
} as const satisfies Record<string, Kind>;

export type ProtocolName = keyof typeof PROTOCOLS;

const unknown = { first: "unknown", atOnce: false, fits: false } as const;

export const KINDS = {
  banner: {
    ...serverFirst,
    options: ["pattern"],
    meaning: "the server's first bytes, whatever they are or matching `pattern`",
  },
  ...PROTOCOLS,
  custom: {
    ...unknown,
    options: ["send", "sendHex", "expect"],
    meaning: "`send` or `sendHex` is sent; any bytes, or those that match `expect`, are the proof",
  },
  replay: {
    ...unknown,
    first: "client",
    options: ["bytes"],
    meaning: "the client's own first bytes are sent, again and again until the target answers",
  },
  platform: { ...unknown, options: [], meaning: "the platform's word that the deployment is ready" },
} as const satisfies Record<string, Kind>;

export type ReadinessKind = keyof typeof KINDS;

export const WAKE_ON = ["connect", "payload", "fitting"] as const satisfies readonly WakeOn[];

/** The most that a probe sends, and a pattern's length. */
const MAX_SEND = 1024;
const MAX_PATTERN = 200;
export const REPLAY_BYTES = { default: 16_384, max: 1_048_576 };

interface Option {
  /** Why a value can't stand, or undefined when it can. */
  refuse(value: unknown): string | undefined;
  default?: string | number;
  meaning: string;
}

const text =
  (form: RegExp, what: string) =>
  (value: unknown): string | undefined =>
    typeof value === "string" && form.test(value) ? undefined : `must be ${what}`;

function refusePattern(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "" || value.length > MAX_PATTERN) {
    return `must be a regular expression of 1 to ${MAX_PATTERN} characters`;
  }
  try {
    new RegExp(value);
    return undefined;
  } catch {
    return "must be a regular expression";
  }
}

function refuseBytes(value: unknown): string | undefined {
  const { max } = REPLAY_BYTES;
  const right = typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max;
  return right ? undefined : `must be a whole number between 1 and ${max}`;
}

function refuseSend(value: unknown): string | undefined {
  const hex = typeof value === "string" ? fromEscapes(value) : undefined;
  if (hex === undefined) return "must be text in which \\r, \\n, \\t, \\0, \\\\ and \\xHH may stand";
  return hex.length > 2 * MAX_SEND ? `must be at most ${MAX_SEND} bytes` : undefined;
}

export const OPTIONS = {
  pattern: { refuse: refusePattern, meaning: "a regular expression that the first bytes must match" },
  user: {
    refuse: text(/^[\x21-\x7e]{1,63}$/, "a user's name"),
    default: "postgres",
    meaning: "the user that the probe names",
  },
  database: {
    refuse: text(/^[\x21-\x7e]{1,63}$/, "a database's name"),
    default: "postgres",
    meaning: "the database that the probe names",
  },
  method: { refuse: text(/^[A-Z]{1,16}$/, "a method such as GET"), default: "GET", meaning: "the method" },
  path: {
    refuse: text(/^\/[\x21-\x7e]{0,500}$/, "a path such as /healthz"),
    default: "/",
    meaning: "the path",
  },
  host: {
    refuse: text(/^[A-Za-z0-9_.:[\]-]{1,253}$/, "a host name"),
    meaning: "the `Host` header; the internal name unless given",
  },
  serverName: {
    refuse: text(/^(?=.*[A-Za-z])[A-Za-z0-9_.-]{1,253}$/, "a host name"),
    meaning: "the server name to ask for; none unless given",
  },
  send: { refuse: refuseSend, meaning: "text to send, with \\r, \\n, \\t, \\0, \\\\ and \\xHH" },
  sendHex: {
    refuse: text(/^(?:[0-9a-fA-F]{2}){1,1024}$/, `1 to ${MAX_SEND} bytes in hex`),
    meaning: "bytes to send, in hex",
  },
  expect: { refuse: refusePattern, meaning: "a regular expression that the answer must match" },
  bytes: {
    refuse: refuseBytes,
    default: REPLAY_BYTES.default,
    meaning: "how many of a client's bytes may be sent again",
  },
} as const satisfies Record<string, Option>;
