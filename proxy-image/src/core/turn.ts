import type { Effect, Moment, Note, TargetConfig, TargetState } from "./types";

/**
 * One step in the making: the state being changed, the effects asked for so far, and the earliest time at which
 * any rule wants another look. A rule that must wait says so through `due`, so no deadline can be forgotten.
 */
export class Turn {
  readonly effects: Effect[] = [];
  alarmAt: number | undefined;
  /** A suspend waits for a read made now. */
  decisionRead = false;

  readonly config: TargetConfig;
  readonly state: TargetState;
  private readonly moment: Moment;

  constructor(config: TargetConfig, state: TargetState, moment: Moment) {
    this.config = config;
    this.state = state;
    this.moment = moment;
  }

  get now(): number {
    return this.moment.now;
  }

  emit(effect: Effect): void {
    this.effects.push(effect);
  }

  note(note: Note): void {
    this.effects.push({ type: "note", note });
  }

  /** Whether `at` has come; if not, the rule will be asked again then. */
  due(at: number): boolean {
    if (at <= this.now) return true;
    if (Number.isFinite(at)) this.alarmAt = Math.min(this.alarmAt ?? at, at);
    return false;
  }

  /** Spreads a delay over ±20 %, so that many proxies do not retry in step. */
  jitter(delayMs: number): number {
    return Math.round(delayMs * (0.8 + 0.4 * this.moment.random));
  }
}
