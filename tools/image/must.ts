import { capture, type RunOptions } from "../lib/run.ts";

/** Runs a command and answers what it prints; throws with all of it where it fails. */
export async function must(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await capture(command, args, options);
  if (code === 0) return stdout;
  throw new Error(`${command} ${args.join(" ")}: exit code ${code}\n${stdout}${stderr}`);
}
