/** How often a log, where a line can't be rewritten, is told that a long step still goes on. */
const logEveryMs = 20_000;

export interface Progress {
  /** What is being done just now; shown with the elapsed time. */
  update(detail: string): void;
  done(detail: string): void;
}

/** One line on stderr that tells how long a step has taken so far. */
export function startProgress(title: string): Progress {
  const out = process.stderr;
  const startedAt = Date.now();
  let detail = "";
  const line = () => `${title} [${elapsed(Date.now() - startedAt)}] ${detail}`.trimEnd();
  const draw = () => {
    if (out.isTTY) out.write(`\r\x1b[K${line().slice(0, (out.columns ?? 80) - 1)}`);
    else out.write(`${line()}\n`);
  };
  draw();
  const timer = setInterval(draw, out.isTTY ? 500 : logEveryMs);
  timer.unref();

  return {
    update(text) {
      detail = text;
    },
    done(text) {
      clearInterval(timer);
      detail = text;
      draw();
      if (out.isTTY) out.write("\n");
    },
  };
}

export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
