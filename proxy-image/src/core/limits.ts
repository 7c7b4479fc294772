/** The core's fixed figures, each with its reason. Settings that users choose are in `TargetConfig`. */

/** Added to the target's termination grace: the load balancer and mesh may lag behind the replicas. */
export const GRACE_MARGIN_MS = 10_000;

/** The platform's default termination grace, used until the workload has been read. */
export const DEFAULT_GRACE_MS = 90_000;

/** A generation that has not become ready by then idles down as usual, so that it stops costing money. */
export const STARTING_LIMIT_MS = 30 * 60_000;

/** While nobody waits for a starting target, it is still looked at this often. */
export const STARTING_LOOK_MS = 10_000;

/** Reads after a write whose outcome is unknown, and how long they must agree. */
export const DOUBT_READ_MS = 3_000;
export const DOUBT_SETTLED_MS = 30_000;

/** How old a read may be when a suspend is decided on it. */
export const DECISION_READ_MAX_AGE_MS = 10_000;

/** A read wanted by events is made at most this often. */
export const READ_SPACING_MS = 1_000;

/** Without demand the watch is this many times slower. */
export const IDLE_WATCH_FACTOR = 4;

/** Retries of failed calls: doubling from the first to a cap, less while somebody is held. */
export const RETRY_FIRST_MS = 500;
export const RETRY_CAP_MS = 30_000;
export const RETRY_CAP_HELD_MS = 8_000;

/** With nobody held, a failing API is asked this often. */
export const TROUBLED_READ_MS = 30_000;

/** The longest `Retry-After` that is honoured. */
export const RETRY_AFTER_CAP_MS = 60_000;

/** A quota does not go away by asking. */
export const QUOTA_RETRY_MS = 60_000;

/** Tries while calls fail: a burst, then a trickle, so that a storm of clients costs the API little. */
export const TOKENS = 3;
export const TOKEN_REFILL_MS = 5_000;

/** A foreign suspend under clients is undone at most once in this time; another one is a person's decision. */
export const FOREIGN_UNDO_MS = 10 * 60_000;

/** Wake attempts after the first wait, doubling. */
export const ATTEMPT_RETRY_FIRST_MS = 1_000;
export const ATTEMPT_RETRY_CAP_MS = 8_000;

/** Deployment status: while it can be evidence, and while it can only name a failure. */
export const STATUS_EVIDENCE_MS = 1_000;
export const STATUS_FAILURE_MS = 5_000;

/** After a reported failure, clients are turned away at once for this long, doubling, before the status is read again. */
export const FAILURE_RETRY_FIRST_MS = 5_000;
export const FAILURE_RETRY_CAP_MS = 60_000;

/** From this many failed generations in a row on, a failed target is suspended without an idle-hold. */
export const FAILED_GENERATIONS_LIMIT = 2;

/** Probes of one port under way at once, whatever the window and the interval; extra looks come on top. */
export const PROBES_IN_FLIGHT_CAP = 8;

/**
 * A port that somebody waits for and where nobody listens is looked at so soon again, for 20 looks a second and
 * target: a client then waits 25 ms for the next look. They take 10 to 15 ms of processor time a second. Doubled after
 * each of these times, since a target that took this long is not kept waiting by a tenth of a second.
 */
export const TURNED_DOWN_LOOK_MS = 50;
export const TURNED_DOWN_PATIENCE_MS = [30_000, 120_000];

/** From this many targets on they share the pace of so many, so that a tenth of a core is enough for all of them. */
export const TURNED_DOWN_TARGETS = 4;

/** How a port booted the last times; the middle one of an odd few is not moved by a single slow boot. */
export const BOOTS_KEPT = 5;

/** Extra looks at a port around its expected boot: a generation costs no more than these, and closer is no use. */
export const EXTRA_LOOKS = 8;
export const EXTRA_LOOK_LEAST_MS = 50;
