import type { Note } from "../core/types";
import { LOG_EVENTS, type LogFields, type LogName } from "./catalogue";

/** Writes one JSON object a line. Nothing secret ever gets here: tokens are known to the API client alone. */
export class Log {
  private readonly write: (line: string) => void;
  private readonly wall: () => number;
  private readonly target: string | undefined;

  constructor(write: (line: string) => void, wall: () => number, target?: string) {
    this.write = write;
    this.wall = wall;
    this.target = target;
  }

  /** The same log, of one target. */
  of(target: string): Log {
    return new Log(this.write, this.wall, target);
  }

  event<N extends LogName>(event: N, fields: LogFields<N>): void {
    this.line(event, fields);
  }

  note({ event, ...fields }: Note): void {
    this.line(event, fields);
  }

  private line(event: LogName, fields: object): void {
    const { level } = LOG_EVENTS[event];
    const time = new Date(this.wall()).toISOString();
    const target = this.target === undefined ? {} : { target: this.target };
    this.write(`${JSON.stringify({ time, level, event, ...target, ...fields })}\n`);
  }
}

/** Standard output, which may be gone before the process is. */
export function stdoutLog(): Log {
  process.stdout.on("error", () => {});
  return new Log((line) => process.stdout.write(line), Date.now);
}
