/**
 * What Pulumi makes of a `suspend` that the proxy has flipped since the last update: every combination, as data. The
 * test runs each under the real engine; the table in docs/drift.md is made of the same.
 */
export type Way = "ignoreSuspend" | "liveSuspend";
export type Operation = "up" | "refresh" | "up --refresh";
/** `suspended`: recorded awake, then suspended by the proxy. `connected`: recorded suspended, then woken for a client. */
export type Moment = "suspended" | "connected";

export interface Cell {
  way: Way;
  operation: Operation;
  /** Whether the program changed a variable of the target too. */
  change: boolean;
  /** The paths of the target's own update; empty where it is left alone. */
  shown: string[];
  /** Whether the target stays as the proxy had put it. */
  stays: boolean;
}

const env = "containers[0].env.WORD";
const suspend = "options.suspend";

export const cells: Cell[] = [
  { way: "ignoreSuspend", operation: "up", change: false, shown: [], stays: true },
  { way: "ignoreSuspend", operation: "refresh", change: false, shown: [], stays: true },
  { way: "ignoreSuspend", operation: "up --refresh", change: false, shown: [], stays: true },
  // What was recorded last is sent again: the reason for `refresh: always`.
  { way: "ignoreSuspend", operation: "up", change: true, shown: [env], stays: false },
  { way: "ignoreSuspend", operation: "up --refresh", change: true, shown: [env], stays: true },
  { way: "liveSuspend", operation: "up", change: false, shown: [suspend], stays: true },
  { way: "liveSuspend", operation: "refresh", change: false, shown: [], stays: true },
  { way: "liveSuspend", operation: "up --refresh", change: false, shown: [], stays: true },
  { way: "liveSuspend", operation: "up", change: true, shown: [env, suspend], stays: true },
  { way: "liveSuspend", operation: "up --refresh", change: true, shown: [env], stays: true },
];

export const moments: Moment[] = ["suspended", "connected"];

/** What a reader of the table wants to know of one cell. */
export function outcome({ shown, stays }: Cell, moment: Moment): string {
  const seen =
    shown.length === 0 ? "nothing shown" : `shows ${shown.map((path) => `\`${path}\``).join(" and ")}`;
  if (stays) return `${seen}; stays ${moment === "suspended" ? "suspended" : "awake"}`;
  return moment === "suspended"
    ? `${seen}; **is woken**, and suspended again after its grace period and the idle-hold`
    : `${seen}; **is suspended under its client**, and woken again by the proxy at its next read`;
}
