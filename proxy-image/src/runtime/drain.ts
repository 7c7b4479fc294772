import type { Log } from "../log/log";
import type { Census } from "./admission";
import type { Clock } from "./clock";

/** How long the load balancer may go on sending clients after the proxy stopped being ready. */
export const WITHDRAW_MS = 10_000;

export interface DrainDeps {
  clock: Clock;
  log: Log;
  /** From the beginning of the drain to its end, whatever is still there. */
  timeoutMs: number;
  census: () => Census;
  /** A suspend or un-suspend is on its way. */
  writing: () => boolean;
  /** Called once: nothing is suspended from here on. */
  begin: () => void;
  closeListeners: () => void;
}

export type DrainPhase = "serving" | "withdrawing" | "finishing" | "over";

/**
 * The way out. Asked gently, the proxy stops being ready at once and goes on taking clients until the load balancer
 * has withdrawn; told by a signal, it takes no more. Either way sessions go on, held clients keep their deadlines, and
 * it is over when nobody is left and no write is on its way, or when the time is up.
 */
export class Drain {
  phase: DrainPhase = "serving";
  private startedAt = 0;
  private cancelWithdraw = () => {};
  private cancelTimeout = () => {};
  private readonly settled: Promise<void>;
  private settle: () => void = () => {};
  private readonly deps: DrainDeps;

  constructor(deps: DrainDeps) {
    this.deps = deps;
    this.settled = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  /** Resolves when it is over. May be asked any number of times. */
  withdraw(): Promise<void> {
    if (this.phase === "serving") {
      this.begin("asked");
      this.phase = "withdrawing";
      this.cancelWithdraw = this.deps.clock.timer(WITHDRAW_MS, () => this.finish());
    }
    return this.settled;
  }

  /** As `withdraw`, without waiting for the load balancer. */
  stop(cause: string): Promise<void> {
    if (this.phase === "serving") this.begin(cause);
    if (this.phase === "serving" || this.phase === "withdrawing") this.finish();
    return this.settled;
  }

  /** A client has gone, or a write is done. */
  changed(): void {
    if (this.phase !== "finishing") return;
    const { held, spliced } = this.deps.census();
    if (held + spliced === 0 && !this.deps.writing()) this.end();
  }

  private begin(cause: string): void {
    this.startedAt = this.deps.clock.now();
    this.deps.log.event("draining", { cause, ...this.deps.census() });
    this.cancelTimeout = this.deps.clock.timer(this.deps.timeoutMs, () => this.end());
    this.deps.begin();
  }

  private finish(): void {
    this.cancelWithdraw();
    this.phase = "finishing";
    this.deps.closeListeners();
    this.deps.log.event("listeners_closed", {});
    this.changed();
  }

  private end(): void {
    if (this.phase === "over") return;
    // Out of time while the listeners are still open.
    if (this.phase === "withdrawing") this.deps.closeListeners();
    this.phase = "over";
    this.cancelWithdraw();
    this.cancelTimeout();
    const { held, spliced } = this.deps.census();
    const tookMs = Math.round(this.deps.clock.now() - this.startedAt);
    this.deps.log.event("drained", { tookMs, cut: held + spliced });
    this.settle();
  }
}
