import type { Phase } from "./types";

/** A change of phase and what brings it about. The state diagram in the docs is drawn from this table. */
export interface Transition {
  from: Phase;
  to: Phase;
  when: string;
}

export const TRANSITIONS: readonly Transition[] = [
  { from: "unknown", to: "suspended", when: "read: suspended, or a suspend sent before was accepted" },
  { from: "unknown", to: "starting", when: "read: not suspended" },
  { from: "unknown", to: "awake", when: "read: not suspended, and a port was proved before" },
  { from: "unknown", to: "waking", when: "reads fail, a client waits, and a probe found nobody" },
  { from: "suspended", to: "waking", when: "a client waits" },
  { from: "suspended", to: "starting", when: "read: not suspended (a foreign wake)" },
  { from: "suspended", to: "awake", when: "a port is proved (a foreign wake)" },
  { from: "waking", to: "starting", when: "un-suspend accepted, or read: not suspended" },
  { from: "waking", to: "awake", when: "a port is proved" },
  { from: "waking", to: "suspended", when: "un-suspend not accepted, and nobody waits any more" },
  { from: "starting", to: "awake", when: "a port is proved" },
  { from: "starting", to: "suspending", when: "failed or never ready, and the idle-hold is over" },
  { from: "starting", to: "suspended", when: "read: suspended (a foreign or late suspend)" },
  { from: "awake", to: "suspending", when: "the idle-hold is over" },
  { from: "awake", to: "suspended", when: "read: suspended (a foreign or late suspend)" },
  { from: "suspending", to: "suspended", when: "suspend accepted, or read: suspended" },
  { from: "suspending", to: "waking", when: "outcome unknown, and a client waits" },
  { from: "suspending", to: "awake", when: "suspend refused" },
  { from: "suspending", to: "starting", when: "suspend refused, or given up after an unknown outcome" },
  { from: "suspended", to: "unknown", when: "target missing or created anew" },
  {
    from: "waking",
    to: "unknown",
    when: "target missing or created anew, or never read and nobody waits any more",
  },
  { from: "starting", to: "unknown", when: "target missing or created anew" },
  { from: "awake", to: "unknown", when: "target missing or created anew" },
  { from: "suspending", to: "unknown", when: "target missing or created anew" },
];

const allowed = new Set(TRANSITIONS.map(({ from, to }) => `${from}>${to}`));

/** Changes the phase. A change outside the table is a fault of the core, and is thrown. */
export function enter(state: { phase: Phase }, to: Phase): void {
  if (state.phase === to) return;
  if (!allowed.has(`${state.phase}>${to}`)) throw new Error(`no transition from ${state.phase} to ${to}`);
  state.phase = to;
}
