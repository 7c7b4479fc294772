import type { AddressBlock } from "../network/addresses.ts";
import type { Recorder } from "../network/recorder.ts";
import type { LogLine, PlatformOptions, PlatformSwitches } from "./settings.ts";
import type { Callers } from "./tokens.ts";

/** What every part of the running platform shares. */
export interface PlatformContext {
  options: PlatformOptions;
  switches: PlatformSwitches;
  block: AddressBlock;
  callers: Callers;
  recorder: Recorder;
  /** Everything that lives on disk, gone with the platform. */
  scratch: string;
  log(line: LogLine): void;
}
