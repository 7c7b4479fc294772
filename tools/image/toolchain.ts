import { homedir } from "node:os";
import { join } from "node:path";
import { fromRoot } from "../lib/root.ts";
import { must } from "./must.ts";

/** This machine's Rust in an offline build: `from:to:ro` for the build's steps, and the environment that finds it. */
export interface Toolchain {
  volumes: string[];
  env: Record<string, string>;
}

/** Where a build stage has what Debian's packages don't bring; the same places as in the public image for Rust. */
const [rust, cargo] = ["/usr/local/rust", "/usr/local/cargo"];

/**
 * The toolchain that compiles in the checkout, and the crates that its lockfile names, fetched if they are missing.
 * The steps themselves reach no network.
 */
export async function rustOfThisMachine(): Promise<Toolchain> {
  const cwd = fromRoot("proxy-image", "native");
  const sysroot = (await must("rustc", ["--print", "sysroot"], { cwd })).trim();
  await must("cargo", ["fetch", "--locked"], { cwd });
  const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  return {
    volumes: [`${sysroot}:${rust}:ro`, `${join(cargoHome, "registry")}:${join(cargo, "registry")}:ro`],
    env: {
      PATH: `${rust}/bin:/usr/local/bin:/usr/bin:/bin`,
      CARGO_HOME: cargo,
      CARGO_NET_OFFLINE: "true",
    },
  };
}
