import { readFile, writeFile } from "node:fs/promises";
import { arch, cpus, release, totalmem } from "node:os";
import { fromRoot } from "../tools/lib/root.ts";
import { plot } from "./plot.ts";
import type { Survival } from "./room.ts";
import { DIRECT, type Figures, quantile } from "./speed.ts";

export interface Measured {
  pinned: Map<string, Figures>;
  throttled: Map<string, Figures> | undefined;
  /** By `subject|kind|count`. */
  memory: Map<string, number>;
  survival: Map<string, Survival | undefined>;
  /** By `subject|how it is down`. */
  wakes: Map<string, number[]>;
  starts: Map<string, number>;
}

const BEGIN = "<!-- written by npm run bench -->";
const END = "<!-- end of what npm run bench writes -->";

const number = (value: number): string => {
  if (Number.isNaN(value)) return "–";
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);

function speedTable(figures: Map<string, Figures>, base: string): string[] {
  const names = [...figures.keys()];
  const keys = Object.keys(figures.get(base) ?? {});
  const rows = keys.map((key) => [
    key,
    ...names.map((name) => {
      const value = figures.get(name)?.[key] ?? Number.NaN;
      const of = figures.get(base)?.[key] ?? Number.NaN;
      const own = name === DIRECT && /CPU/.test(key) ? Number.NaN : value;
      const ratio = name === base || Number.isNaN(own / of) ? "" : ` (${(own / of).toFixed(2)})`;
      return `${number(own)}${ratio}`;
    }),
  ]);
  return table(["", ...names], rows);
}

export async function writeReport(measured: Measured, { write }: { write: boolean }): Promise<void> {
  const base = measured.pinned.has("reference") ? "reference" : "HAProxy";
  const split = (key: string) => key.split("|");
  const lines = [
    BEGIN,
    "",
    `\`${base === "reference" ? "REFERENCE_PROXY=… " : ""}npm run bench\`, ${new Date().toISOString().slice(0, 10)}: ` +
      `${cpus()[0]?.model ?? arch()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, ` +
      `loopback, Node ${process.versions.node}.`,
    `Medians of interleaved rounds; in brackets the ratio to ${base === "reference" ? "the reference proxy" : base}.`,
    "",
    "### One full core",
    "",
    "![Ratios](performance.svg)",
    "",
    ...speedTable(measured.pinned, base),
    "",
    "### A tenth of a core",
    "",
    ...(measured.throttled
      ? speedTable(measured.throttled, base)
      : ["Not measured: this machine lets no limit be made."]),
    "",
    "### Memory of a connection",
    "",
    ...table(
      ["proxy", "connections", "anonymous KiB each"],
      [...measured.memory].map(([key, each]) => {
        const [name = "", kind, count] = split(key);
        return [name, `${count} ${kind}`, number(each)];
      }),
    ),
    "",
    "### In 128 MiB, the kernel's memory included, without privileges",
    "",
    "A 256 MiB download beside the spliced ones; this proxy's preStop hook starts beside them too.",
    "",
    ...table(
      ["proxy", "connections", "survives", "peak MiB", "download s"],
      [...measured.survival].map(([key, survived]) => {
        const [name = "", kind, count] = split(key);
        if (!survived) return [name, `${count} ${kind}`, "not measured", "–", "–"];
        const verdict = survived.survived ? "yes" : `no (${survived.open} open)`;
        return [name, `${count} ${kind}`, verdict, number(survived.peakMiB), number(survived.bulkSeconds)];
      }),
    ),
    "",
    "### Wake overhead",
    "",
    "From the target's first possible answer to the first byte at the client, in milliseconds.",
    "",
    ...table(
      ["proxy", "while down the target is", "p50", "p99", "wakes"],
      [...measured.wakes].map(([key, all]) => {
        const [name = "", down = ""] = split(key);
        return [name, down, number(quantile(all, 0.5)), number(quantile(all, 0.99)), `${all.length}`];
      }),
    ),
    "",
    "### CPU of a start",
    "",
    ...table(
      ["process", "CPU ms"],
      [...measured.starts].map(([name, milliseconds]) => [name, number(milliseconds)]),
    ),
    "",
    END,
  ];
  if (!write) {
    console.log(lines.join("\n"));
    return;
  }
  const file = fromRoot("docs", "performance.md");
  const text = await readFile(file, "utf8");
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  const section = lines.join("\n");
  const next =
    from < 0
      ? `${text.trimEnd()}\n\n## Data plane\n\n${section}\n`
      : text.slice(0, from) + section + text.slice(to + END.length);
  await writeFile(file, next);
  await writeFile(fromRoot("docs", "performance.svg"), plot(measured.pinned, base));
}
