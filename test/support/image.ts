import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { matchesName } from "../../simulator/src/images/catalogue.ts";
import { type Image, processImage } from "../../simulator/src/images/index.ts";
import { buildImage } from "../../tools/image/build.ts";
import { type ImageLayout, readLayout, unpackLayout } from "../../tools/image/layout.ts";
import { environmentOf, sandboxed } from "../../tools/image/sandbox.ts";
import { buildNative, whyNotNative } from "../../tools/native.ts";

const preload = fileURLToPath(new URL("../../simulator/src/network/preload.cjs", import.meta.url));

/** Why the image can't be built and run here; `undefined` where it can. Never so where real peers are required. */
export async function whyNoImage(): Promise<string | undefined> {
  if (process.env.REQUIRE_REAL_PEERS === "1") return undefined;
  if (process.platform !== "linux") return "needs Linux";
  if (process.getuid?.() !== 0) return "needs root";
  if (!existsSync("/usr/bin/buildah")) return "needs Debian's package buildah";
  return await whyNotNative();
}

/**
 * The checkout's image, built twice from nothing but the bases, and the first of them unpacked. Whoever has built it
 * already names that layout in BUILT_IMAGE: it is the first of the two then.
 */
export interface BuiltImage {
  builds: [ImageLayout, ImageLayout];
  root: string;
  dispose(): Promise<void>;
}

export async function builtTwice(): Promise<BuiltImage> {
  await buildNative();
  const dir = await mkdtemp(join(tmpdir(), "cpln-image-test-"));
  const dispose = () => rm(dir, { recursive: true, force: true });
  try {
    const built = process.env.BUILT_IMAGE ? [await readLayout(process.env.BUILT_IMAGE)] : [];
    const [first, second] = [
      ...built,
      ...(await buildImage({ output: join(dir, "image"), times: 2 - built.length })),
    ];
    if (first === undefined || second === undefined) throw new Error("the image was not built twice");
    const root = join(dir, "root");
    await unpackLayout(first, root);
    return { builds: [first, second], root, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** For the local platform: what the unpacked image itself says is run, in the unpacked image. */
export function imageInSandbox({ builds: [{ config }], root }: BuiltImage): Image {
  const around = sandboxed(root, config, preload);
  const { Entrypoint, Cmd = [] } = config.config;
  return processImage({
    description: "the proxy's image, unpacked, as its own user on a read-only file system",
    matches: matchesName("scale-to-zero-proxy"),
    hasShell: false,
    bootMs: 0,
    spec: {
      command: [...around, ...Entrypoint],
      args: Cmd,
      env: environmentOf(config),
      translate: (command) => [...around, ...command],
    },
  });
}
