import { writeSync } from "node:fs";
import type { Reporter, TestModule, TestSuite } from "vitest/node";

/**
 * Closes a run with `N passed, N failed` alone on the last line, for whatever reads the output of `npm test`.
 * Printed when the process exits, since the default reporter and vitest itself write after a run's end.
 */
class CountsReporter implements Reporter {
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  onInit(): void {
    process.once("exit", (code) => {
      // A run can fail as a whole, such as by finding no test: what fails it counts.
      const failed = code === 0 ? this.#failed : Math.max(this.#failed, 1);
      const skipped = this.#skipped === 0 ? "" : `, ${this.#skipped} skipped`;
      writeSync(process.stdout.fd, `${this.#passed} passed, ${failed} failed${skipped}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#passed = 0;
    this.#failed = unhandledErrors.length;
    this.#skipped = 0;
    for (const module of modules) this.#count(module);
  }

  /** A file that can't be loaded and a suite whose hook fails are failures beside those of their tests. */
  #count(module: TestModule): void {
    const groups: (TestModule | TestSuite)[] = [module, ...module.children.allSuites()];
    this.#failed += groups.filter((group) => group.errors().length > 0).length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") this.#passed += 1;
      else if (state === "failed") this.#failed += 1;
      else this.#skipped += 1;
    }
  }
}

// Vitest takes a reporter from a file as its default export.
export default CountsReporter;
