/**
 * `npm run build:native`: builds the native plane into the proxy's dist/, where it is looked for. Needs Linux and a
 * Rust toolchain; where either is missing it says so and succeeds, unless REQUIRE_REAL_PEERS=1. With `--check`, its
 * format, lints and tests instead, the tests also under the address and thread sanitizers.
 */
import { copyFile, mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { fromRoot } from "./lib/root.ts";
import { capture, passThrough } from "./lib/run.ts";

const crates = fromRoot("proxy-image", "native");
const targetDir = process.env.CARGO_TARGET_DIR ?? join(crates, "target");

/** Where the proxy looks for it. */
export const addonFile = fromRoot("proxy-image", "dist", "splice.node");

/** Why it can't be built here, or nothing. */
export async function whyNotNative(): Promise<string | undefined> {
  if (process.platform !== "linux") return `splice(2) is Linux's, and this is ${process.platform}`;
  const cargo = await capture("cargo", ["--version"], { cwd: crates }).catch(() => undefined);
  return cargo?.code === 0 ? undefined : "there is no Rust toolchain (cargo)";
}

/** Quick where nothing has changed. Throws with the compiler's words where it fails. */
export async function buildNative(): Promise<void> {
  const { code, stderr } = await capture("sh", [fromRoot("proxy-image", "image", "compile-plane.sh")]);
  if (code !== 0) throw new Error(`cargo build failed\n${stderr}`);
  const built = join(targetDir, "release", "libsplice_addon.so");
  if (await same(built, addonFile)) return;
  await mkdir(join(addonFile, ".."), { recursive: true });
  // Renamed into place: a process that has the old one loaded keeps it, and nobody loads half of one.
  const partial = `${addonFile}.${process.pid}`;
  await copyFile(built, partial);
  await rename(partial, addonFile);
}

async function same(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([readFile(one), readFile(other).catch(() => undefined)]);
  return b !== undefined && a.equals(b);
}

/**
 * The sanitizers come with every toolchain, behind a switch for the adventurous; the standard library is not
 * instrumented, which costs findings inside of it and nothing else. `watched` swaps its locks, which the thread
 * sanitizer can't see, for ones it can; a test of their own runs then, since the test harness is not instrumented
 * either.
 */
function sanitizer(name: "address" | "thread", tests: string[]): { args: string[]; env: NodeJS.ProcessEnv } {
  const flags = [`-Zsanitizer=${name}`];
  if (name === "thread") flags.push("-Cunsafe-allow-abi-mismatch=sanitizer", "--cfg=watched");
  const dir = join(targetDir, name);
  return {
    args: [
      "test",
      "--locked",
      "--package",
      "splice-plane",
      "--target",
      hostTriple(),
      "--target-dir",
      dir,
      ...tests,
    ],
    env: {
      ...process.env,
      RUSTC_BOOTSTRAP: "1",
      RUSTFLAGS: flags.join(" "),
      TSAN_OPTIONS: `halt_on_error=1 suppressions=${join(crates, "plane", "tsan.supp")}`,
    },
  };
}

function hostTriple(): string {
  return `${process.arch === "arm64" ? "aarch64" : "x86_64"}-unknown-linux-gnu`;
}

async function check(): Promise<void> {
  const plain = process.env;
  const steps = {
    format: { args: ["fmt", "--check"], env: plain },
    lints: { args: ["clippy", "--locked", "--all-targets", "--", "-D", "warnings"], env: plain },
    tests: { args: ["test", "--locked", "--package", "splice-plane"], env: plain },
    "tests, address sanitizer": sanitizer("address", ["--tests"]),
    "tests, thread sanitizer": sanitizer("thread", ["--test", "races"]),
  };
  for (const [name, { args, env }] of Object.entries(steps)) {
    console.error(`native: ${name}`);
    const code = await passThrough("cargo", args, { cwd: crates, env });
    if (code !== 0) throw new Error(`${name} failed`);
  }
}

if (import.meta.main) {
  try {
    const whyNot = await whyNotNative();
    if (whyNot !== undefined) {
      if (process.env.REQUIRE_REAL_PEERS === "1") throw new Error(`not built: ${whyNot}`);
      console.error(`native: not built: ${whyNot}; the proxy moves bytes in JavaScript then`);
    } else if (process.argv.includes("--check")) {
      await check();
    } else {
      await buildNative();
      console.error(`native: ${addonFile}`);
    }
  } catch (error) {
    console.error(`native: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
