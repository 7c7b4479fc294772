import { createReadStream } from "node:fs";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { must } from "./must.ts";

/** An image as a registry holds it, in a folder (OCI image layout). */
export interface ImageLayout {
  folder: string;
  /** Of the manifest: what a workload pins with `@sha256:…`. */
  digest: string;
  config: ImageConfig;
  layers: { path: string; bytes: number; unpackedBytes: number }[];
}

export interface ImageConfig {
  created: string;
  architecture: string;
  config: {
    User: string;
    Env: string[];
    Entrypoint: string[];
    Cmd?: string[];
    WorkingDir: string;
    Labels: Record<string, string>;
    StopSignal?: string;
  };
}

interface Descriptor {
  digest: string;
  size: number;
}

export async function readLayout(folder: string): Promise<ImageLayout> {
  const blob = (digest: string) => join(folder, "blobs", ...digest.split(":"));
  const json = async (path: string) => JSON.parse(await readFile(path, "utf8"));
  const index: { manifests: Descriptor[] } = await json(join(folder, "index.json"));
  const [only, ...others] = index.manifests;
  if (only === undefined || others.length > 0) throw new Error(`${folder} does not hold exactly one image`);
  const manifest: { config: Descriptor; layers: Descriptor[] } = await json(blob(only.digest));
  return {
    folder,
    digest: only.digest,
    config: await json(blob(manifest.config.digest)),
    layers: await Promise.all(
      manifest.layers.map(async ({ digest, size }) => ({
        path: blob(digest),
        bytes: size,
        unpackedBytes: await unpackedSize(blob(digest)),
      })),
    ),
  };
}

async function unpackedSize(path: string): Promise<number> {
  let bytes = 0;
  await pipeline(createReadStream(path), createGunzip(), async (chunks) => {
    for await (const chunk of chunks) bytes += (chunk as Buffer).length;
  });
  return bytes;
}

/** The image's root file system, owners and modes as the layers have them. */
export async function unpackLayout(image: ImageLayout, root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  // Layers here only add: a base made for this image and what the image adds to it.
  for (const { path } of image.layers) {
    await must("tar", [
      "--extract",
      "--gzip",
      "--numeric-owner",
      "--same-owner",
      "--preserve-permissions",
      "--file",
      path,
      "--directory",
      root,
    ]);
  }
  await stat(join(root, "app"));
}
