/** What the demo prints: sections, timed lines and a closing table. Nothing else writes to stdout. */
export class Narrator {
  private origin = Date.now();
  private readonly failures: string[] = [];

  title(text: string): void {
    this.write(`\n${text}\n${"─".repeat(text.length)}\n`);
  }

  /** Times of the lines that follow count from now. */
  section(text: string): void {
    this.origin = Date.now();
    this.write(`\n${text}\n`);
  }

  fact(name: string, text: string): void {
    this.write(`  ${name.padEnd(9)} ${text}\n`);
  }

  line(who: string, text: string): void {
    const seconds = ((Date.now() - this.origin) / 1000).toFixed(1).padStart(5);
    this.write(`${seconds} s  ${who.padEnd(8)} ${text}\n`);
  }

  /** A claim that held or did not; one that did not fails the demo. */
  claim(held: boolean, text: string): void {
    this.write(`         ${held ? "ok" : "NOT SO"}: ${text}\n`);
    if (!held) this.failures.push(text);
  }

  table(rows: [string, string][]): void {
    const width = Math.max(...rows.map(([name]) => name.length));
    this.write(`${rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join("\n")}\n`);
  }

  get failed(): readonly string[] {
    return this.failures;
  }

  private write(text: string): void {
    process.stdout.write(text);
  }
}
