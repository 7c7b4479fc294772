/** Arguments with a fixed set of values. Objects rather than unions, which the schema of a package knows not. */

/** Who can reach the proxy. */
export const Exposure = {
  /** The world, as far as `allow` goes, through a load balancer of the proxy's own. */
  Public: "public",
  /** Workloads of the same GVC, or those in `allowWorkloads`. No load balancer, which is what idles dearest. */
  Internal: "internal",
} as const;
export type Exposure = (typeof Exposure)[keyof typeof Exposure];

/** What a held client sees when its time is up. */
export const HoldEnd = {
  /** An orderly close. */
  Close: "close",
  /** A reset, which most clients report as a failure at once. */
  Reset: "reset",
} as const;
export type HoldEnd = (typeof HoldEnd)[keyof typeof HoldEnd];

/** What a held client means that ends its half without having sent a byte. */
export const ClientFin = {
  /** It has left. */
  Leave: "leave",
  /** It waits for what the server says. */
  Wait: "wait",
} as const;
export type ClientFin = (typeof ClientFin)[keyof typeof ClientFin];

/** What moves the bytes of spliced sessions. */
export const DataPlane = {
  /** The native plane where the image has it, else the JavaScript one. */
  Auto: "auto",
  Native: "native",
  Js: "js",
} as const;
export type DataPlane = (typeof DataPlane)[keyof typeof DataPlane];

/** How a port proves that the application itself answers. */
export const ReadinessKind = {
  /** The server's first bytes, whatever they are or matching `pattern`. */
  Banner: "banner",
  Ssh: "ssh",
  Smtp: "smtp",
  Ftp: "ftp",
  Imap: "imap",
  Pop3: "pop3",
  /** MySQL and MariaDB. */
  Mysql: "mysql",
  Postgres: "postgres",
  /** Redis, Valkey and what speaks like them. */
  Redis: "redis",
  Mqtt: "mqtt",
  Amqp: "amqp",
  /** HTTP without TLS: an answer below 500. */
  Http: "http",
  /** Anything inside TLS, HTTPS among it. */
  Tls: "tls",
  /** Minecraft, Java edition. */
  Minecraft: "minecraft",
  Memcached: "memcached",
  /** `send` or `sendHex` is sent; any bytes, or those that match `expect`, are the proof. */
  Custom: "custom",
  /** The client's own first bytes, again and again: the target may see the first message twice. */
  Replay: "replay",
  /** The platform's word that the deployment is ready, for targets that never answer unasked. */
  Platform: "platform",
} as const;
export type ReadinessKind = (typeof ReadinessKind)[keyof typeof ReadinessKind];

/** What of a client wakes the target. */
export const WakeOn = {
  /** Its connection. */
  Connect: "connect",
  /** Its first bytes. */
  Payload: "payload",
  /** First bytes that are those of the named protocol. */
  Fitting: "fitting",
} as const;
export type WakeOn = (typeof WakeOn)[keyof typeof WakeOn];
