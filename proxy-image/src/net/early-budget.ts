/**
 * Early bytes of all held clients together. Each client has its own bound, but a chunk that crosses it can be 64 KiB,
 * and a thousand strangers could send one each: past the budget, further clients are left unread.
 */
export class EarlyBudget {
  private used = 0;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  get exhausted(): boolean {
    return this.used >= this.limit;
  }

  /** Bytes already in memory: they count whether or not they fit. */
  add(bytes: number): void {
    this.used += bytes;
  }

  give(bytes: number): void {
    this.used -= bytes;
  }

  get bytes(): number {
    return this.used;
  }
}
