import type { Note } from "../core/types";

/**
 * Every line that the proxy can log: what it means, how grave it is, and the fields it carries beside `time`, `level`,
 * `event` and, where a target is concerned, `target`. Names and fields are promises to whoever searches the logs.
 */

export type Level = "info" | "warn" | "error";

interface LogEvent {
  level: Level;
  fields: readonly string[];
  meaning: string;
}

export const LOG_EVENTS = {
  // The process.
  started: {
    level: "info",
    fields: ["version", "plane", "targets", "ports", "healthPort", "compiledAhead", "tookMs"],
    meaning: "All ports are listened on.",
  },
  settings_warning: {
    level: "warn",
    fields: ["warning"],
    meaning: "A setting works, but perhaps not as meant.",
  },
  plane_fallback: {
    level: "info",
    fields: ["reason"],
    meaning:
      "The native data plane is not there or can't be loaded: bytes are moved in JavaScript, at several times the CPU.",
  },
  descriptor_limit: {
    level: "warn",
    fields: ["limit", "maxConnectionsTotal"],
    meaning:
      "The process may open fewer descriptors than the settings ask for: the total of clients is lowered.",
  },
  listen_failed: {
    level: "error",
    fields: ["port", "error"],
    meaning: "A port can't be listened on. The process ends.",
  },
  accept_trouble: {
    level: "warn",
    fields: ["port", "error", "count"],
    meaning: "Clients could not be accepted, such as for want of descriptors. The port stays open.",
  },
  draining: {
    level: "info",
    fields: ["cause", "held", "spliced"],
    meaning: "The process was told to stop: sessions go on, nothing is suspended any more.",
  },
  listeners_closed: { level: "info", fields: [], meaning: "New clients are no longer accepted." },
  drained: {
    level: "info",
    fields: ["tookMs", "cut"],
    meaning: "Draining is over; `cut` sessions had not ended in time.",
  },
  stopped: { level: "info", fields: ["code"], meaning: "The last line of a process." },
  internal_error: {
    level: "error",
    fields: ["where", "error"],
    meaning: "A fault of the proxy itself. Sessions are not touched by it; please report it.",
  },

  // Clients.
  connection_ended: {
    level: "warn",
    fields: [
      "port",
      "client",
      "reason",
      "stage",
      "detail",
      "heldMs",
      "splicedMs",
      "dials",
      "bytesUp",
      "bytesDown",
    ],
    meaning:
      "A client's connection ended otherwise than in order: one side reset it (`client_reset`, `target_reset`), no " +
      "longer answered (`_lost`) or took nothing (`_stalled`); one had ended and nothing moved since (`half_closed`); " +
      "the proxy ended it (`cut`) or could not go on with it (`broken`); or the hold ended without a session " +
      "(`hold_expired`, `target_failed`).",
  },
  connection_refused: {
    level: "warn",
    fields: ["port", "client", "reason"],
    meaning: "A client was turned away at once: a cap is reached, or the process is stopping.",
  },
  connections: {
    level: "info",
    fields: ["accepted", "ended", "scans", "unlogged", "longestHoldMs", "bytesUp", "bytesDown"],
    meaning:
      "Once a minute, when anything happened: clients accepted, ends by reason, scans among them (clients that ended " +
      "without a byte, or whose first bytes were not the protocol's), and ends and refusals that the limit " +
      "on single lines kept out of the log.",
  },

  // The life of a target: notes of the core.
  wake: {
    level: "info",
    fields: ["generation"],
    meaning: "A client waits and the target is being un-suspended.",
  },
  ready: {
    level: "info",
    fields: ["generation", "port", "tookMs", "evidence"],
    meaning: "A port has been shown to be answered by the current generation.",
  },
  wake_near_max_hold: {
    level: "warn",
    fields: ["tookMs", "maxHoldMs"],
    meaning:
      "A wake took more than 80 % of MAX_HOLD: a slightly slower one drops its clients. Raise MAX_HOLD, or let the " +
      "target start faster.",
  },
  wake_timeout: {
    level: "warn",
    fields: ["attempt", "afterMs"],
    meaning:
      "An attempt to wake the target ended without a proof. Clients stay held and the next attempt follows.",
  },
  target_silent: {
    level: "error",
    fields: ["port", "probes", "advice"],
    meaning:
      "The target accepted every probe of a whole attempt and stayed silent: most likely it is asked in the wrong way.",
  },
  connected_unproved: {
    level: "warn",
    fields: ["port"],
    meaning:
      "A client was connected at the end of its hold although nothing shows that the target is a new one.",
  },
  suspend: { level: "info", fields: ["idleMs"], meaning: "Nobody is connected any more: a suspend is sent." },
  suspended: { level: "info", fields: ["tookMs"], meaning: "The suspend was accepted." },
  suspend_cancelled: { level: "info", fields: [], meaning: "A client came before the suspend was sent." },
  write_failed: {
    level: "warn",
    fields: ["suspend", "kind", "message", "retryInMs"],
    meaning: "The API did not accept a suspend or un-suspend.",
  },
  read_failed: {
    level: "warn",
    fields: ["kind", "message", "retryInMs"],
    meaning: "The API did not say how the target is.",
  },
  api_recovered: { level: "info", fields: ["afterMs"], meaning: "The API answers again." },
  outcome_unknown: {
    level: "warn",
    fields: ["suspend", "kind"],
    meaning: "A write may or may not have been applied. Reads follow until it is certain.",
  },
  foreign_suspend_undone: {
    level: "warn",
    fields: [],
    meaning: "Somebody else suspended the target under its clients; it is un-suspended.",
  },
  foreign_suspend_obeyed: {
    level: "warn",
    fields: ["untilMs"],
    meaning: "Somebody suspended the target again: taken for a decision, and left alone for a time.",
  },
  late_suspend_undone: {
    level: "warn",
    fields: [],
    meaning: "A suspend that had been given up was applied after all; it is undone.",
  },
  foreign_wake: { level: "info", fields: [], meaning: "Somebody else un-suspended the target." },
  mode_changed: { level: "info", fields: ["mode"], meaning: "The tag scale-to-zero/mode changed." },
  other_scaler: {
    level: "warn",
    fields: ["scaler"],
    meaning: "The target's scale belongs to something else; it is left alone.",
  },
  target_recreated: { level: "warn", fields: [], meaning: "The target was deleted and created anew." },
  target_missing: { level: "error", fields: [], meaning: "There is no such workload." },
  target_failed: {
    level: "error",
    fields: ["reason", "message", "failedGenerations"],
    meaning: "The platform reports that the target can't start; held clients are dropped.",
  },
  never_ready: {
    level: "error",
    fields: ["afterMs"],
    meaning: "The target did not become ready in all that time; it idles down as usual.",
  },
  version_not_accepted: {
    level: "info",
    fields: [],
    meaning: "The platform does not take a version with a suspend; suspends go without it from now on.",
  },
} as const satisfies Record<string, LogEvent>;

export type LogName = keyof typeof LOG_EVENTS;
export type LogFields<N extends LogName> = Record<(typeof LOG_EVENTS)[N]["fields"][number], unknown>;

/** Every note of the core is a line of the same name whose fields are the note's. */
type NoteNames = Note["event"];
type Unlisted = Exclude<NoteNames, LogName>;
const everyNoteIsListed: Unlisted extends never ? true : Unlisted = true;
void everyNoteIsListed;
