/** `node tools/release/notes.ts v1.2.3 [CHANGELOG]`: prints what the changelog says of the version; fails where it says nothing. */
import { readFile } from "node:fs/promises";
import { fromRoot } from "../lib/root.ts";

const version = (process.argv[2] ?? "").replace(/^v/, "");
const changelog = await readFile(process.argv[3] ?? fromRoot("CHANGELOG.md"), "utf8");

const section = changelog.split(/^## /m).find((part) => part.startsWith(`[${version}]`));
const notes = section?.split("\n").slice(1).join("\n").trim() ?? "";
if (version === "" || notes === "") {
  console.error(`CHANGELOG.md has no entry for ${version || "no version"}`);
  process.exitCode = 1;
} else {
  console.log(notes);
}
