/** The packages as their users get them: `npm pack`, of what is compiled apart from the checkout. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fromRoot } from "../../tools/lib/root.ts";
import { capture } from "../../tools/lib/run.ts";

export interface Packages {
  /** `cpln-scale-to-zero` */
  component: string;
  /** The typed subset of `@pulumiverse/cpln`. */
  sdk: string;
}

/** The tarballs' paths, in this folder. */
export async function packInto(folder: string): Promise<Packages> {
  const [component, sdk] = await Promise.all([
    pack(folder, "component", "tsconfig.build.json", "package.json"),
    pack(folder, "sdk", "sdks/cpln/tsconfig.json", "sdks/cpln/package.json"),
  ]);
  return { component, sdk };
}

async function pack(folder: string, name: string, project: string, manifest: string): Promise<string> {
  const staged = join(folder, name);
  mkdirSync(staged);
  copyFileSync(fromRoot(manifest), join(staged, "package.json"));
  const tsc = fromRoot("node_modules", "typescript", "bin", "tsc");
  await must(process.execPath, [tsc, "-p", fromRoot(project), "--outDir", join(staged, "dist")], staged);
  const packed = await must(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", folder],
    staged,
  );
  const [found] = JSON.parse(packed) as { filename: string }[];
  return join(folder, found?.filename ?? "");
}

async function must(command: string, args: string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await capture(command, args, { cwd });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
  return stdout;
}
