import { BootControl } from "./boot.ts";
import type { Failure } from "./failures.ts";
import type { MuteBehaviour } from "./settings.ts";

/** What tests and people do to one workload. It is there before the workload is, and outlives it. */
export class WorkloadControls {
  readonly boot = new BootControl();
  /** How the mesh behaves while nothing is ready; absent: as the switch says. */
  mute: MuteBehaviour | undefined;
  readonly #failures = new Map<string, Failure>();

  /** Without a location: in all of them. */
  setFailure(failure: Failure | undefined, location: string | undefined): void {
    const place = location ?? "*";
    if (failure === undefined) this.#failures.delete(place);
    else this.#failures.set(place, failure);
  }

  failure(location: string): Failure | undefined {
    return this.#failures.get(location) ?? this.#failures.get("*");
  }
}
