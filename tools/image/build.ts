/**
 * `npm run build:image`: the proxy's image from this checkout, as an OCI layout, without a container engine.
 *
 *   npm run build:image -- [--output FOLDER] [--registry-bases] [--measure]
 *
 * Needs root, Debian's `buildah` and Rust. The bases come from Debian packages unless `--registry-bases` asks for those
 * that the Dockerfile names, which bring a Rust of their own. `--measure` also starts it and says what it needs.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fromRoot, root } from "../lib/root.ts";
import { whyNotNative } from "../native.ts";
import { layOutBuildBase, layOutRuntimeBase, layOutRustBase } from "./bases.ts";
import { Buildah } from "./buildah.ts";
import { type ImageLayout, readLayout } from "./layout.ts";
import { measure, megabytes, row } from "./measure.ts";
import { must } from "./must.ts";
import { rustOfThisMachine } from "./toolchain.ts";

export interface BuildOptions {
  /** Where the OCI layout goes; replaced if there is one. */
  output: string;
  registryBases?: boolean;
  /** How many times to build, each from nothing but the bases; the layouts are `output`, `output-2`, … */
  times?: number;
}

export async function buildImage(options: BuildOptions): Promise<ImageLayout[]> {
  const dir = await mkdtemp(join(tmpdir(), "cpln-image-"));
  try {
    const buildah = await Buildah.open(join(dir, "buildah"));
    const commit = await commitOfCheckout();
    const { version } = JSON.parse(await readFile(fromRoot("package.json"), "utf8"));
    const { args, volumes } = options.registryBases
      ? { args: {}, volumes: [] }
      : await makeBases(buildah, dir, commit.timestamp);
    const outputs = Array.from({ length: options.times ?? 1 }, (_, index) =>
      index === 0 ? options.output : `${options.output}-${index + 1}`,
    );
    for (const output of outputs) {
      await buildah.build({
        tag: "scale-to-zero-proxy",
        dockerfile: fromRoot("proxy-image", "Dockerfile"),
        ignoreFile,
        context: root,
        timestamp: commit.timestamp,
        args: { ...args, VERSION: version, REVISION: commit.revision },
        volumes,
      });
      await rm(output, { recursive: true, force: true });
      await buildah.push("scale-to-zero-proxy", output);
    }
    return await Promise.all(outputs.map(readLayout));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Sources are taken as they lie there: one that differs from its commit shows in the revision. */
async function commitOfCheckout(): Promise<{ revision: string; timestamp: number }> {
  const git = async (...args: string[]) => (await must("git", args, { cwd: root })).trim();
  const changed = await git("status", "--porcelain", "--", ...(await buildsFrom()));
  return {
    revision: (await git("rev-parse", "HEAD")) + (changed === "" ? "" : "-modified"),
    timestamp: Number(await git("show", "--no-patch", "--format=%ct", "HEAD")),
  };
}

const ignoreFile = fromRoot("proxy-image", "Dockerfile.dockerignore");

/** The paths that get into the build. */
async function buildsFrom(): Promise<string[]> {
  const lines = (await readFile(ignoreFile, "utf8")).split("\n");
  return lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
}

/** The Dockerfile's bases from Debian packages; and what its steps see of this machine, that no package brings. */
async function makeBases(
  buildah: Buildah,
  dir: string,
  timestamp: number,
): Promise<{ args: Record<string, string>; volumes: string[] }> {
  const packages = join(dir, "packages");
  const rust = await rustOfThisMachine();
  const made = {
    RUST_IMAGE: { layOut: layOutRustBase, env: rust.env },
    BUILD_IMAGE: { layOut: layOutBuildBase, env: {} },
    BASE_IMAGE: { layOut: layOutRuntimeBase, env: {} },
  };
  const args: Record<string, string> = {};
  for (const [name, { layOut, env }] of Object.entries(made)) {
    const context = join(dir, name);
    await mkdir(context);
    await layOut(context, packages);
    const dockerfile = `${context}.Dockerfile`;
    const variables = Object.entries(env).map(([variable, value]) => `ENV ${variable}=${value}\n`);
    await writeFile(dockerfile, `FROM scratch\nCOPY . /\n${variables.join("")}`);
    const tag = name.toLowerCase();
    await buildah.build({ tag, dockerfile, context, timestamp });
    args[name] = `localhost/${tag}`;
  }
  return { args, volumes: [`${fromRoot("node_modules")}:/build/node_modules:ro`, ...rust.volumes] };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      output: { type: "string", default: fromRoot("proxy-image", "dist", "image") },
      "registry-bases": { type: "boolean", default: false },
      measure: { type: "boolean", default: false },
    },
  });
  try {
    if (!existsSync("/usr/bin/buildah")) throw new Error("needs Debian's package buildah");
    const whyNoPlane = values["registry-bases"] ? undefined : await whyNotNative();
    if (whyNoPlane !== undefined) throw new Error(whyNoPlane);
    const output = resolve(values.output);
    const [image] = await buildImage({ output, registryBases: values["registry-bases"] });
    if (image === undefined) throw new Error("nothing was built");
    const sum = (of: "bytes" | "unpackedBytes") =>
      image.layers.reduce((total, layer) => total + layer[of], 0);
    const { Labels } = image.config.config;
    console.log(row("image", output));
    console.log(row("digest", image.digest));
    console.log(row("revision", Labels["org.opencontainers.image.revision"] ?? ""));
    console.log(row("compressed", megabytes(sum("bytes"))));
    console.log(row("unpacked", megabytes(sum("unpackedBytes"))));
    if (values.measure) for (const line of await measure(image)) console.log(line);
  } catch (error) {
    console.error(`build:image: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
