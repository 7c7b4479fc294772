/** `node tools/release/check-tag.ts v1.2.3`: fails unless everything that has a version has that of the tag. */
import { readFile } from "node:fs/promises";
import { fromRoot } from "../lib/root.ts";

const [tag = ""] = process.argv.slice(2);

const sources = [
  { path: "package.json", pattern: /"version": "([^"]+)"/ },
  { path: "proxy-image/package.json", pattern: /"version": "([^"]+)"/ },
  { path: "src/version.ts", pattern: /version = "([^"]+)"/ },
  { path: "proxy-image/native/Cargo.toml", pattern: /^version = "([^"]+)"/m },
];

for (const { path, pattern } of sources) {
  const found = pattern.exec(await readFile(fromRoot(path), "utf8"))?.[1];
  if (`v${found}` === tag) continue;
  console.error(`${path} has ${found ?? "no version"}, and the tag is ${tag || "missing"}`);
  process.exitCode = 1;
}
