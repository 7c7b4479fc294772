/** Simulated time and chance for the world around the core: one queue of things to happen, one seeded source of luck. */

export interface Entry {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Entries of the same millisecond run in the order in which they were made. */
export class Timeline {
  now = 0;
  private readonly heap: Entry[] = [];
  private made = 0;

  at(time: number, run: () => void): Entry {
    const entry: Entry = { at: Math.max(time, this.now), order: this.made++, run };
    this.push(entry);
    return entry;
  }

  cancel(entry: Entry | undefined): void {
    if (entry) entry.run = undefined;
  }

  /** Runs whatever is due up to `time`, and then it is `time`; unless `enough` says so before, after any entry. */
  runUntil(time: number, enough?: () => boolean): void {
    for (let top = this.heap[0]; top !== undefined && top.at <= time; top = this.heap[0]) {
      this.pop();
      if (!top.run) continue;
      this.now = Math.max(this.now, top.at);
      top.run();
      if (enough?.()) return;
    }
    this.now = Math.max(this.now, time);
  }

  private push(entry: Entry): void {
    const { heap } = this;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!sooner(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop() as Entry;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && sooner(heap[child + 1] as Entry, heap[child] as Entry)) child += 1;
      if (!sooner(heap[child] as Entry, last)) break;
      heap[index] = heap[child] as Entry;
      index = child;
    }
    heap[index] = last;
  }
}

function sooner(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** A small seeded generator (mulberry32): the same seed makes the same world. */
export class Luck {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<Choice>(choices: readonly Choice[]): Choice {
    return choices[Math.floor(this.next() * choices.length)] as Choice;
  }
}
