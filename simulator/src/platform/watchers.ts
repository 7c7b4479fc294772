import type { ResourceKey } from "../model.ts";
import { sameKey } from "../network/recorder.ts";

interface Watcher {
  key: ResourceKey;
  look(): void;
  fail(error: Error): void;
}

/** Waits for a condition on a workload, which tells when it may have changed. No polling, no sleeping. */
export class Watchers<T> {
  readonly #watchers = new Set<Watcher>();
  readonly #read: (key: ResourceKey) => T;

  constructor(read: (key: ResourceKey) => T) {
    this.#read = read;
  }

  /** Settles with the first value that fits, the present one included. */
  when(
    key: ResourceKey,
    fits: (value: T) => boolean,
    timeout: { ms: number; describe: (value: T) => string },
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        this.#watchers.delete(watcher);
      };
      const watcher: Watcher = {
        key,
        look: () => {
          try {
            const value = this.#read(key);
            if (!fits(value)) return;
            finish();
            resolve(value);
          } catch (error) {
            finish();
            reject(error);
          }
        },
        fail: (error) => {
          finish();
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        watcher.fail(
          new Error(`not seen within ${timeout.ms} ms; last: ${timeout.describe(this.#read(key))}`),
        );
      }, timeout.ms);
      this.#watchers.add(watcher);
      watcher.look();
    });
  }

  changed(key: ResourceKey): void {
    for (const watcher of [...this.#watchers]) if (sameKey(watcher.key, key)) watcher.look();
  }

  dispose(): void {
    for (const watcher of [...this.#watchers]) watcher.fail(new Error("the platform was disposed"));
  }
}
