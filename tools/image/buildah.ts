import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { must } from "./must.ts";

/** buildah with a storage of its own under `dir`, so that nothing of the machine's is read or left. */
export class Buildah {
  readonly #dir: string;
  readonly #storage: string[];

  private constructor(dir: string) {
    this.#dir = dir;
    const roots = ["--root", join(dir, "storage"), "--runroot", join(dir, "run")];
    // The one driver that needs neither mounts nor a kernel's help.
    this.#storage = [...roots, "--storage-driver", "vfs"];
  }

  static async open(dir: string): Promise<Buildah> {
    await mkdir(dir, { recursive: true });
    // Nothing is pulled in an offline build, and what is pulled otherwise is named by digest.
    const anything = { default: [{ type: "insecureAcceptAnything" }] };
    await writeFile(join(dir, "policy.json"), JSON.stringify(anything));
    return new Buildah(dir);
  }

  async build(options: {
    tag: string;
    dockerfile: string;
    context: string;
    /** For everything in it that has a time. */
    timestamp: number;
    ignoreFile?: string;
    args?: Record<string, string>;
    /** `from:to:ro`, seen by build steps only. */
    volumes?: string[];
  }): Promise<void> {
    const { args = {}, volumes = [], ignoreFile } = options;
    await this.#run([
      ...["bud", "--isolation", "chroot", "--pull-never", "--identity-label=false", "--layers=false"],
      ...["--timestamp", String(options.timestamp), "--tag", options.tag, "--file", options.dockerfile],
      ...(ignoreFile === undefined ? [] : ["--ignorefile", ignoreFile]),
      ...Object.entries(args).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
      ...volumes.flatMap((volume) => ["--volume", volume]),
      options.context,
    ]);
  }

  /** As an OCI layout: what a registry would hold. */
  async push(tag: string, layout: string): Promise<void> {
    await this.#run(["push", "--format", "oci", tag, `oci:${layout}`]);
  }

  async #run([command = "", ...args]: string[]): Promise<void> {
    const policy = ["--signature-policy", join(this.#dir, "policy.json")];
    await must("buildah", [...this.#storage, command, ...policy, ...args]);
  }
}
