/**
 * Every setting there is: what it is called in each place, what it defaults to, what it may be, what it means.
 * The parser, the renderer, the component's checks and the table in the docs are all derived from this list. Names
 * and defaults are promises: they are chosen once, and a retired name is never given another meaning.
 */

/** The newest `SETTINGS_VERSION` that this code understands. */
export const SETTINGS_VERSION = 1;

/** Where a setting may stand. */
export type Scope =
  /** Describes the only target, when no `TARGET_n` is set. */
  | "single"
  /** A variable for every target that does not say otherwise; a key of `TARGET_n` for one. */
  | "target"
  /** The process. */
  | "process"
  /** Injected by the platform. */
  | "platform";

interface Described {
  variable: string;
  scope: Scope;
  /** In the JSON of `TARGET_n`. */
  key?: string;
  /** On the component; absent where no argument sets it. */
  argument?: string;
  /** One paragraph, for the docs. */
  meaning: string;
  required?: boolean;
  /** What happens without it, where that is not a plain value. */
  otherwise?: string;
}

export type Setting = Described &
  (
    | { kind: "duration"; default?: string; min: string; max: string }
    | { kind: "integer"; default?: number; min: number; max: number; unit: string }
    | { kind: "choice"; default: string; values: readonly string[] }
    | { kind: "name"; of: "workload" | "gvc" | "org" | "location" }
    | { kind: "host"; default?: string }
    | { kind: "ports" }
    | { kind: "url" }
    | { kind: "secret" }
    | { kind: "target" }
  );

export const SETTINGS = {
  TARGET_WORKLOAD: {
    variable: "TARGET_WORKLOAD",
    scope: "single",
    key: "workload",
    argument: "target",
    kind: "name",
    of: "workload",
    required: true,
    meaning: "The workload to wake and suspend, by name or by link.",
  },
  TARGET_GVC: {
    variable: "TARGET_GVC",
    scope: "single",
    key: "gvc",
    argument: "targetGvc",
    kind: "name",
    of: "gvc",
    otherwise: "the proxy's own GVC",
    meaning: "The GVC of the target.",
  },
  TARGET_HOST: {
    variable: "TARGET_HOST",
    scope: "single",
    key: "host",
    argument: "targetHost",
    kind: "host",
    otherwise: "`{workload}.{gvc}.cpln.local`",
    meaning: "The internal name that is dialled, where it is not the usual one.",
  },
  PORT_MAPPINGS: {
    variable: "PORT_MAPPINGS",
    scope: "single",
    key: "ports",
    argument: "ports",
    kind: "ports",
    required: true,
    meaning:
      "Which port of the proxy leads to which port of the target: `2022:2022,9000:9001`, listener first; a bare " +
      "port maps to itself. The first is the one probed while nobody is held.",
  },
  IDLE_HOLD: {
    variable: "IDLE_HOLD",
    scope: "target",
    key: "idleHold",
    argument: "idleHold",
    kind: "duration",
    default: "5m",
    min: "1ms",
    max: "168h",
    meaning: "How long the target is kept awake after its last connection closed.",
  },
  MAX_HOLD: {
    variable: "MAX_HOLD",
    scope: "target",
    key: "maxHold",
    argument: "maxHold",
    kind: "duration",
    default: "90s",
    min: "1ms",
    max: "1h",
    meaning: "How long a client is held at most before it is dropped.",
  },
  WAKE_TIMEOUT: {
    variable: "WAKE_TIMEOUT",
    scope: "target",
    key: "wakeTimeout",
    argument: "wakeTimeout",
    kind: "duration",
    default: "120s",
    min: "1ms",
    max: "1h",
    meaning:
      "How long one attempt to wake the target lasts, API call and probing together. It ends the attempt, not the " +
      "clients: while somebody is held the next attempt follows.",
  },
  WAKE_POLL_INTERVAL: {
    variable: "WAKE_POLL_INTERVAL",
    scope: "target",
    key: "wakePollInterval",
    argument: "wakePollInterval",
    kind: "duration",
    default: "500ms",
    min: "10ms",
    max: "1m",
    meaning:
      "The time between two readiness probes during a wake. Where nobody listens, and around the boot that is " +
      "expected, they come sooner.",
  },
  PROBE_WINDOW: {
    variable: "PROBE_WINDOW",
    scope: "target",
    key: "probeWindow",
    argument: "probeWindow",
    kind: "duration",
    default: "2s",
    min: "10ms",
    max: "1m",
    meaning: "How long a readiness probe waits for the server's first bytes.",
  },
  HOLD_END: {
    variable: "HOLD_END",
    scope: "target",
    key: "holdEnd",
    argument: "holdEnd",
    kind: "choice",
    default: "close",
    values: ["close", "reset"],
    meaning: "What a held client sees when its time is up: an orderly close, or a reset.",
  },
  CLIENT_FIN: {
    variable: "CLIENT_FIN",
    scope: "target",
    key: "clientFin",
    argument: "clientFin",
    kind: "choice",
    default: "leave",
    values: ["leave", "wait"],
    meaning:
      "What a held client means that ends its half without having sent a byte: that it has left, as health checks and " +
      "port scanners do, or that it waits for what the server says. After bytes it always waits.",
  },
  WATCH_INTERVAL: {
    variable: "WATCH_INTERVAL",
    scope: "target",
    key: "watchInterval",
    argument: "watchInterval",
    kind: "duration",
    default: "15s",
    min: "50ms",
    max: "1h",
    meaning:
      "How often the target is read from the API while somebody is connected; four times this while nobody is.",
  },
  MAX_HELD: {
    variable: "MAX_HELD",
    scope: "target",
    key: "maxHeld",
    argument: "maxHeld",
    kind: "integer",
    default: 1000,
    min: 1,
    max: 60_000,
    unit: "clients",
    meaning: "Clients of one target that are held at once; one more is refused.",
  },
  MAX_CONNECTIONS: {
    variable: "MAX_CONNECTIONS",
    scope: "target",
    key: "maxConnections",
    argument: "maxConnections",
    kind: "integer",
    default: 4000,
    min: 1,
    max: 60_000,
    unit: "clients",
    meaning: "Clients of one target that are held or spliced at once; one more is refused.",
  },
  DIAL_LIMIT: {
    variable: "DIAL_LIMIT",
    scope: "target",
    key: "dialLimit",
    argument: "dialLimit",
    kind: "integer",
    default: 64,
    min: 1,
    max: 10_000,
    unit: "connections",
    meaning:
      "Connections to the target that are being made at once, so that a burst of held clients doesn't overrun a " +
      "server that has just started. The others wait their turn, first come first served.",
  },
  EARLY_BYTES: {
    variable: "EARLY_BYTES",
    scope: "target",
    key: "earlyBytes",
    argument: "earlyBytes",
    kind: "integer",
    default: 16_384,
    min: 0,
    max: 1_048_576,
    unit: "bytes",
    meaning: "What a held client may send before it is left unread until it is spliced.",
  },
  TARGET_N: {
    variable: "TARGET_n",
    scope: "process",
    kind: "target",
    otherwise: "the variables of a single target",
    meaning:
      "`TARGET_1`, `TARGET_2`, …: one target each, as JSON: `workload`, `ports` (a list of `listen`, `target`, " +
      "`readiness` and `wakeOn`), and any of the keys in this table. Not together with the variables of a single target.",
  },
  HEALTH_PORT: {
    variable: "HEALTH_PORT",
    scope: "process",
    argument: "healthPort",
    kind: "integer",
    default: 8081,
    min: 1,
    max: 65_535,
    unit: "port",
    meaning: "The port that `/healthz` and `/readyz` answer on, for the proxy's own probes.",
  },
  LISTEN_HOST: {
    variable: "LISTEN_HOST",
    scope: "process",
    kind: "host",
    default: "::",
    meaning: "The address that the proxy's listeners bind; every address unless set.",
  },
  DRAIN_TIMEOUT: {
    variable: "DRAIN_TIMEOUT",
    scope: "process",
    argument: "drainTimeout",
    kind: "duration",
    default: "75s",
    min: "1ms",
    max: "1h",
    meaning: "How long a proxy that is told to stop waits for its spliced sessions to end.",
  },
  OWN_GRACE: {
    variable: "OWN_GRACE",
    scope: "process",
    argument: "terminationGracePeriodSeconds",
    kind: "duration",
    min: "1ms",
    max: "1h",
    otherwise: "`IDLE_HOLD` alone counts",
    meaning:
      "The proxy workload's own termination grace. The replica that this one replaces may still be draining for " +
      "that long, so no suspend is sent before it has passed.",
  },
  DATA_PLANE: {
    variable: "DATA_PLANE",
    scope: "process",
    argument: "dataPlane",
    kind: "choice",
    default: "auto",
    values: ["auto", "native", "js"],
    meaning: "What moves the bytes of spliced sessions; `auto` takes the native plane where it is there.",
  },
  HALF_CLOSE_LINGER: {
    variable: "HALF_CLOSE_LINGER",
    scope: "process",
    argument: "halfCloseLinger",
    kind: "duration",
    default: "1h",
    min: "1s",
    max: "168h",
    meaning:
      "How long a session whose one side has ended may go on without a byte either way, before it is ended too. One " +
      "that is still receiving is never cut.",
  },
  STALL_LIMIT: {
    variable: "STALL_LIMIT",
    scope: "process",
    argument: "stallLimit",
    kind: "duration",
    default: "1h",
    min: "1s",
    max: "168h",
    meaning:
      "How long one side of a session may take nothing of what the other has sent it, before both are reset.",
  },
  MAX_HELD_TOTAL: {
    variable: "MAX_HELD_TOTAL",
    scope: "process",
    argument: "maxHeldTotal",
    kind: "integer",
    default: 2000,
    min: 1,
    max: 60_000,
    unit: "clients",
    meaning: "Clients held at once, all targets together; one more is refused.",
  },
  MAX_CONNECTIONS_TOTAL: {
    variable: "MAX_CONNECTIONS_TOTAL",
    scope: "process",
    argument: "maxConnectionsTotal",
    kind: "integer",
    default: 8000,
    min: 1,
    max: 60_000,
    unit: "clients",
    meaning: "Clients held or spliced at once, all targets together; one more is refused.",
  },
  SETTINGS_VERSION: {
    variable: "SETTINGS_VERSION",
    scope: "process",
    kind: "integer",
    default: 1,
    min: 1,
    max: 1_000_000,
    unit: "version",
    meaning:
      "Which edition of these settings the component rendered. A proxy that meets a newer one than it knows stops.",
  },
  CPLN_ENDPOINT: {
    variable: "CPLN_ENDPOINT",
    scope: "platform",
    kind: "url",
    required: true,
    meaning: "Where the API is.",
  },
  CPLN_ORG: {
    variable: "CPLN_ORG",
    scope: "platform",
    kind: "name",
    of: "org",
    required: true,
    meaning: "The organisation.",
  },
  CPLN_GVC: {
    variable: "CPLN_GVC",
    scope: "platform",
    kind: "name",
    of: "gvc",
    otherwise: "the first target's GVC",
    meaning: "The proxy's own GVC.",
  },
  CPLN_WORKLOAD: {
    variable: "CPLN_WORKLOAD",
    scope: "platform",
    kind: "name",
    of: "workload",
    otherwise: "unknown",
    meaning: "The proxy's own workload.",
  },
  CPLN_LOCATION: {
    variable: "CPLN_LOCATION",
    scope: "platform",
    kind: "name",
    of: "location",
    otherwise: "unknown",
    meaning: "The location that this replica runs in.",
  },
  CPLN_TOKEN: {
    variable: "CPLN_TOKEN",
    scope: "platform",
    kind: "secret",
    required: true,
    meaning: "The workload's token. Never logged, never rendered.",
  },
} as const satisfies Record<string, Setting>;

export const allSettings = (): Setting[] => Object.values(SETTINGS);
