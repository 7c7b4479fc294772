/** Waits for a condition on something that tells when it may have changed. No polling, no sleeping. */
export class Watchers<T> {
  readonly #watchers = new Set<{ id: string; look: () => void; fail: (error: Error) => void }>();
  readonly #read: (id: string) => T;

  constructor(read: (id: string) => T) {
    this.#read = read;
  }

  /** Settles with the first value that fits, the present one included. */
  when(
    id: string,
    fits: (value: T) => boolean,
    timeout: { ms: number; describe: (value: T) => string },
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const watcher = {
        id,
        look: () => {
          try {
            const value = this.#read(id);
            if (!fits(value)) return;
            finish();
            resolve(value);
          } catch (error) {
            finish();
            reject(error);
          }
        },
        fail: (error: Error) => {
          finish();
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        watcher.fail(
          new Error(`not seen within ${timeout.ms} ms; last: ${timeout.describe(this.#read(id))}`),
        );
      }, timeout.ms);
      const finish = () => {
        clearTimeout(timer);
        this.#watchers.delete(watcher);
      };
      this.#watchers.add(watcher);
      watcher.look();
    });
  }

  changed(id: string): void {
    for (const watcher of [...this.#watchers]) if (watcher.id === id) watcher.look();
  }

  dispose(): void {
    for (const watcher of [...this.#watchers]) watcher.fail(new Error("the platform was disposed"));
  }
}
