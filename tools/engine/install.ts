import { startProgress } from "../lib/progress.ts";
import { Unavailable } from "./unavailable.ts";
import { engineVersion } from "./versions.ts";

const installerUrl = "https://get.pulumi.com/";
const reachableWithinMs = 5_000;

/**
 * Lets the Automation API install the official CLI of its own version, with the language hosts, into `dir`/bin.
 * The installer itself waits minutes for an address that can't be reached, so that is asked first.
 */
export async function installOfficial(dir: string): Promise<void> {
  try {
    await fetch(installerUrl, { method: "HEAD", signal: AbortSignal.timeout(reachableWithinMs) });
  } catch {
    throw new Unavailable(`the official installer at ${installerUrl} can't be reached`);
  }
  const progress = startProgress(`Pulumi ${engineVersion} from the official installer`);
  try {
    // Loaded only here: it takes a second, and an engine is nearly always there already.
    const { PulumiCommand } = await import("@pulumi/pulumi/automation/index.js");
    await PulumiCommand.install({ root: dir });
    progress.done("done");
  } catch (error) {
    progress.done("failed");
    throw new Unavailable(`the official installer failed: ${error instanceof Error ? error.message : error}`);
  }
}
