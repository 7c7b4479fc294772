import { existsSync } from "node:fs";
import type { DataPlane } from "../../../src/contract/settings";
import { JsPlane } from "./js-plane";
import { NativePlane } from "./native-plane";
import type { Plane, SessionLimits } from "./plane";

export interface ChosenPlane {
  plane: Plane;
  /** Why it is not the native one, where that was not asked for. */
  whyNotNative?: string;
}

/** Throws only where the native plane is asked for by name. */
export function choosePlane(asked: DataPlane, addonFile: string, limits: SessionLimits): ChosenPlane {
  const js = new JsPlane(limits);
  if (asked === "js") return { plane: js };
  try {
    if (!existsSync(addonFile)) throw new Error("this build does not hold it");
    return { plane: new NativePlane(addonFile, js, limits) };
  } catch (error) {
    if (asked === "native") throw error;
    // Another platform or another C library, mostly.
    return { plane: js, whyNotNative: error instanceof Error ? error.message : String(error) };
  }
}
