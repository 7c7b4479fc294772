import { DIRECT, type Figures } from "./speed.ts";

/** What is drawn, and whether more of it is better. */
const PANELS: [key: string, better: "less" | "more"][] = [
  ["down CPU-s/GiB", "less"],
  ["up CPU-s/GiB", "less"],
  ["conn/s", "more"],
  ["CPU-ms/conn", "less"],
  ["ping p99 µs", "less"],
  ["ping beside bulk p99 µs", "less"],
];

const COLOURS = ["#8c8c8c", "#1f6feb", "#9ecbff", "#c9a227", "#5a9e6f"];
const [WIDTH, LABEL, BAR, GAP] = [720, 150, 14, 26];

/** Bars of each subject's ratio to the base, which is the line at 1. */
export function plot(figures: Map<string, Figures>, base: string): string {
  const names = [...figures.keys()].filter((name) => name !== DIRECT);
  const scale = (WIDTH - LABEL - 70) / 4;
  const parts: string[] = [];
  let y = 20;
  for (const [key, better] of PANELS) {
    parts.push(`<text x="8" y="${y}" font-weight="bold">${key}, ${better} is better</text>`);
    y += 8;
    names.forEach((name, index) => {
      const ratio = (figures.get(name)?.[key] ?? Number.NaN) / (figures.get(base)?.[key] ?? Number.NaN);
      if (Number.isNaN(ratio)) return;
      const width = Math.min(ratio, 4) * scale;
      parts.push(
        `<text x="${LABEL - 6}" y="${y + 11}" text-anchor="end">${name}</text>`,
        `<rect x="${LABEL}" y="${y}" width="${width.toFixed(1)}" height="${BAR - 2}" fill="${COLOURS[index % COLOURS.length]}"/>`,
        `<text x="${(LABEL + width + 5).toFixed(1)}" y="${y + 11}">${ratio.toFixed(2)}</text>`,
      );
      y += BAR;
    });
    parts.push(
      `<line x1="${LABEL + scale}" y1="${y - names.length * BAR - 2}" x2="${LABEL + scale}" y2="${y}" stroke="#444" stroke-dasharray="3 2"/>`,
    );
    y += GAP;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" font-family="sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}
