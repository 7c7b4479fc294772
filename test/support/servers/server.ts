/** What every real server of the catalogue is: a program of a Debian package, and a client that does real work. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ContainerContext, Image, ProcessSpec } from "../../../simulator/src/images/index.ts";
import { matchesName, processImage } from "../../../simulator/src/images/index.ts";

/** Where the client finds the proxy, and a folder for what it needs. */
export interface At {
  host: string;
  /** By the target's ports, in the order of `ports`. */
  ports: number[];
  scratch: string;
}

export interface RealServer {
  /** Also the image's name. */
  name: string;
  /** In words, for the docs. */
  server: string;
  client: string;
  /** Debian packages that hold both. */
  packages: string[];
  /** What must be there for all of it. */
  programs: string[];
  ports: { target: number; readiness: unknown; wakeOn?: string }[];
  env?: (scratch: string) => Promise<Record<string, string>>;
  spec: (context: ContainerContext) => ProcessSpec | Promise<ProcessSpec>;
  /** What `work` makes of them. */
  connections: number;
  /** Throws unless all of it worked. Asked twice: cold and warm. */
  work: (at: At, run: Run) => Promise<void>;
}

export type Run = (program: string, args: string[], input?: string) => Promise<string>;

const LIMIT_MS = 30_000;

/** Runs a client to its end; what it wrote to its standard output. */
export const run: Run = async (program, args, input) => {
  const pending = promisify(execFile)(find(program) ?? program, args, {
    timeout: LIMIT_MS,
    env: { PATH: process.env.PATH, HOME: tmpdir(), LC_ALL: "C" },
  });
  // A client may be done without having read what it is given: its exit code tells.
  pending.child.stdin?.on("error", () => {}).end(input ?? "");
  return (await pending).stdout;
};

const FOLDERS = ["/usr/bin", "/usr/sbin", "/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/17/bin"];

/** Where a package has put a program. */
export function find(program: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

export const missing = ({ programs }: RealServer): string[] => programs.filter((program) => !find(program));

/** Without it CI would pass without having proved anything. */
export const required = process.env.REQUIRE_REAL_PEERS === "1";

export const imageOf = ({ name, server, spec }: RealServer): Image =>
  processImage({ description: `${server}: the machine's own`, matches: matchesName(name), bootMs: 0, spec });

const root = process.getuid?.() === 0;

/** A command that servers which refuse root run under, where this is root. */
export function unprivileged(user: string, command: string[]): string[] {
  if (!root) return command;
  return ["/usr/bin/setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--", ...command];
}

/** Gives a folder to such a user. */
export async function give(user: string, folder: string): Promise<void> {
  if (!root) return;
  const id = (flag: string) => Number(spawnSync("id", [flag, user], { encoding: "utf8" }).stdout);
  const [uid, gid] = [id("-u"), id("-g")];
  const entries = await readdir(folder, { recursive: true });
  for (const entry of ["", ...entries]) await chown(join(folder, entry), uid, gid);
}

/** A short path: names of sockets must not be longer than a hundred bytes or so. */
export async function shortFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "s0-"));
  folders.add(folder);
  return folder;
}

const folders = new Set<string>();

/** Once no server runs any more. */
export async function removeFolders(): Promise<void> {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  folders.clear();
}

/** Data that a server takes long to make: made once, copied for every replica. */
export function template(make: (folder: string) => Promise<void>): (to: string) => Promise<void> {
  let made: Promise<string> | undefined;
  return async (to) => {
    if (made && !folders.has(await made)) made = undefined;
    made ??= shortFolder().then(async (folder) => {
      await make(join(folder, "data"));
      return folder;
    });
    await cp(join(await made, "data"), to, { recursive: true });
  };
}

export function expectText(got: string, wanted: string): void {
  if (!got.includes(wanted)) throw new Error(`wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}`);
}
