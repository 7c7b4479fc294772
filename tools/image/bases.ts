/**
 * Bases for an offline build, from this Debian's own packages: unpacked, not installed, so that no script of theirs
 * runs and no package manager is needed inside. Node is the one that npm's package `node` has brought; Debian's Rust
 * is too old, so that the toolchain and the crates are this machine's, which the build mounts (`toolchain.ts`).
 */
import {
  chmod,
  copyFile,
  glob,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { pinnedNode } from "../../simulator/src/images/process-image.ts";
import { must } from "./must.ts";

/** What Node and the native plane link to, and the authorities that TLS asks for. */
const runtimePackages = ["libc6", "libgcc-s1", "libstdc++6", "ca-certificates"];
/** `sh` and the few commands that the build stages use. */
const shellPackages = ["dash", "coreutils", "libacl1", "libattr1", "libgmp10", "libselinux1", "libpcre2-8-0"];
const buildPackages = [...runtimePackages, ...shellPackages];
/** What rustc links with; and what those packages need, which differs with their version and the architecture. */
const linkerPackages = ["gcc", "libc6-dev"];

const passwd = `root:x:0:0:root:/root:/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin
`;
const group = `root:x:0:
nobody:x:65534:
nonroot:x:65532:
`;

/** Of those packages, what nothing in the image reads: scripts, and old character sets. */
const unused = ["usr/sbin", "sbin", "usr/lib/*/gconv", "usr/lib/*/audit", "usr/share/doc/*/examples"];

/** The final stage's base: libraries, certificates, and nothing that can be run. */
export async function layOutRuntimeBase(folder: string, packagesDir: string): Promise<void> {
  await unpack(runtimePackages, folder, packagesDir);
  await unpack(await namedForLicences(folder), folder, packagesDir);
  for (const pattern of unused) {
    for await (const path of glob(pattern, { cwd: folder })) {
      await rm(join(folder, path), { recursive: true });
    }
  }
  await write(join(folder, "etc", "passwd"), passwd);
  await write(join(folder, "etc", "group"), group);
  await write(join(folder, "etc", "nsswitch.conf"), "hosts: files dns\n");
  await bundleCertificates(folder);
}

/** Packages that say of others what may be done with them: a package's documents may be a link to theirs. */
async function namedForLicences(folder: string): Promise<string[]> {
  const documents = join(folder, "usr", "share", "doc");
  const named = new Set<string>();
  for (const name of await readdir(documents)) {
    const path = join(documents, name);
    if ((await lstat(path)).isSymbolicLink()) named.add(await readlink(path));
  }
  return [...named];
}

/** The bundle's build stage: the same libraries, Node, and the commands that its steps need. */
export async function layOutBuildBase(folder: string, packagesDir: string): Promise<void> {
  await unpack(buildPackages, folder, packagesDir);
  await makeFolders(folder, "usr/local", "usr/local/bin");
  await copyFile(pinnedNode(), join(folder, "usr/local/bin/node"));
  // Beside it where Node's own release has it, and so the public image.
  const release = `node-${process.platform}-${process.arch}`;
  const licence = join(dirname(pinnedNode()), "..", "node_modules", release, "LICENSE");
  await copyFile(licence, join(folder, "usr/local/LICENSE"));
  await linkShell(folder);
}

/** The plane's build stage: what a Rust toolchain needs beside itself, against the same libraries. */
export async function layOutRustBase(folder: string, packagesDir: string): Promise<void> {
  const linker = await withDependencies(linkerPackages);
  await unpack([...new Set([...buildPackages, ...linker])], folder, packagesDir);
  await linkShell(folder);
  // The name that the package's own script would give it, and that rustc calls.
  await symlink("gcc", join(folder, "usr", "bin", "cc"));
}

async function linkShell(folder: string): Promise<void> {
  await symlink("dash", join(folder, "bin", "sh")).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

/** As any image has them, whatever the umask of whoever builds. */
async function makeFolders(root: string, ...paths: string[]): Promise<void> {
  await chmod(root, 0o755);
  for (const path of paths) {
    await mkdir(join(root, path), { recursive: true });
    await chmod(join(root, path), 0o755);
  }
}

async function write(file: string, content: string): Promise<void> {
  await writeFile(file, content);
  await chmod(file, 0o644);
}

async function unpack(packages: string[], folder: string, packagesDir: string): Promise<void> {
  await makeFolders(folder, "dev", "etc", "etc/ssl", "etc/ssl/certs", "proc", "sys", "tmp", "usr");
  await mkdir(packagesDir, { recursive: true });
  const missing = await missingPackages(packages, packagesDir);
  if (missing.length > 0) await download(missing, packagesDir);
  for (const name of packages) {
    const file = (await readdir(packagesDir)).find((entry) => entry.startsWith(`${name}_`));
    if (file === undefined) throw new Error(`apt-get has not downloaded ${name}`);
    await must("dpkg-deb", ["--extract", join(packagesDir, file), folder]);
  }
}

async function download(packages: string[], packagesDir: string): Promise<void> {
  await withLists(() => must("apt-get", ["-q", "download", ...packages], { cwd: packagesDir }));
}

/** The packages and all that they depend on, in the names of those that are really there. */
async function withDependencies(packages: string[]): Promise<string[]> {
  const asked = ["depends", "--recurse", "--important", ...packages];
  const answer = await withLists(() => must("apt-cache", asked));
  // Their relations are indented; `<…>` is a name that several packages provide.
  return answer.split("\n").filter((line) => /^[a-z0-9]/.test(line));
}

/** On a machine without lists, or with lists that name packages which are no longer served, gets new ones. */
async function withLists<T>(ask: () => Promise<T>): Promise<T> {
  return await ask().catch(async () => {
    await must("apt-get", ["-q", "update"]);
    return await ask();
  });
}

async function missingPackages(packages: string[], packagesDir: string): Promise<string[]> {
  const there = await readdir(packagesDir);
  return packages.filter((name) => !there.some((entry) => entry.startsWith(`${name}_`)));
}

/** What the package's own script would do at its installation. */
async function bundleCertificates(folder: string): Promise<void> {
  const from = join(folder, "usr", "share", "ca-certificates", "mozilla");
  const names = (await readdir(from)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(from, name), "utf8")));
  await write(join(folder, "etc", "ssl", "certs", "ca-certificates.crt"), texts.join(""));
}
