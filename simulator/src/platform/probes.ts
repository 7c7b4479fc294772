import http from "node:http";
import net from "node:net";
import type { RunningContainer } from "../images/catalogue.ts";
import type { Clock } from "../model.ts";
import type { ProbeSpec } from "./spec.ts";

/**
 * A kubelet's way of asking: after the initial delay, once a period, with thresholds. The first success and the
 * first failure to count are told once each, whenever the verdict changes.
 */
export class ProbeRunner {
  readonly #spec: ProbeSpec;
  readonly #address: string;
  readonly #container: RunningContainer;
  readonly #clock: Clock;
  readonly #onVerdict: (ok: boolean) => void;
  #verdict: boolean | undefined;
  #streak = { ok: true, count: 0 };
  #cancel = () => {};
  #stopCheck = () => {};
  #stopped = false;

  constructor(options: {
    spec: ProbeSpec;
    address: string;
    container: RunningContainer;
    clock: Clock;
    onVerdict: (ok: boolean) => void;
  }) {
    this.#spec = options.spec;
    this.#address = options.address;
    this.#container = options.container;
    this.#clock = options.clock;
    this.#onVerdict = options.onVerdict;
    this.#cancel = this.#clock.after(this.#spec.initialDelayMs, () => void this.#round());
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
    this.#stopCheck();
  }

  async #round(): Promise<void> {
    const ok = await this.#check();
    if (this.#stopped) return;
    this.#count(ok);
    this.#cancel = this.#clock.after(this.#spec.periodMs, () => void this.#round());
  }

  #count(ok: boolean): void {
    this.#streak = this.#streak.ok === ok ? { ok, count: this.#streak.count + 1 } : { ok, count: 1 };
    const needed = ok ? this.#spec.successThreshold : this.#spec.failureThreshold;
    if (this.#streak.count < needed || this.#verdict === ok) return;
    this.#verdict = ok;
    this.#onVerdict(ok);
  }

  #check(): Promise<boolean> {
    return new Promise((resolve) => {
      const stopTimer = this.#clock.after(this.#spec.timeoutMs, () => settle(false));
      const abandon = this.#start((ok) => settle(ok));
      const settle = (ok: boolean) => {
        stopTimer();
        abandon();
        resolve(ok);
      };
      this.#stopCheck = () => settle(false);
    });
  }

  /** Starts one question; the function returned gives it up. */
  #start(done: (ok: boolean) => void): () => void {
    const { action } = this.#spec;
    switch (action.kind) {
      case "exec": {
        const execution = this.#container.exec(action.command);
        void execution.exitCode.then((code) => done(code === 0));
        return () => execution.kill();
      }
      case "tcp": {
        const socket = net.connect({ host: this.#address, port: action.port });
        socket.once("connect", () => done(true));
        socket.once("error", () => done(false));
        return () => socket.destroy();
      }
      case "http": {
        const headers = Object.fromEntries(action.headers.map((header) => [header.name, header.value]));
        const request = http.get(
          { host: this.#address, port: action.port, path: action.path, headers, agent: false },
          (response) => {
            const status = response.statusCode ?? 0;
            response.resume();
            done(status >= 200 && status < 400);
          },
        );
        request.once("error", () => done(false));
        return () => request.destroy();
      }
    }
  }
}
