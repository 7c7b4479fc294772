import * as fs from "node:fs/promises";
import { join, normalize } from "node:path";
import ssh2, { type Attributes, type SFTPWrapper } from "ssh2";

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

type Handle = { kind: "file"; file: fs.FileHandle } | { kind: "folder"; path: string; listed: boolean };

/** SFTP version 3 over a folder, which its clients see as `/`. */
export function serveSftp(sftp: SFTPWrapper, root: string): void {
  const handles = new Map<number, Handle>();
  let nextHandle = 1;
  // Never above the folder, whatever a client writes.
  const inRoot = (path: string) => join(root, normalize(`/${path}`));

  const keep = (id: number, handle: Handle) => {
    const number = nextHandle;
    nextHandle += 1;
    handles.set(number, handle);
    const name = Buffer.alloc(4);
    name.writeUInt32BE(number);
    sftp.handle(id, name);
  };
  const found = (name: Buffer) => (name.length === 4 ? handles.get(name.readUInt32BE()) : undefined);
  /** Every request gets exactly one answer; what goes wrong is answered as a status. */
  const answer = (id: number, work: () => Promise<void>) => {
    work().catch((error: NodeJS.ErrnoException) => sftp.status(id, statusOf(error)));
  };
  const done = (id: number, _result?: unknown) => sftp.status(id, STATUS_CODE.OK);

  sftp.on("error", () => {});
  sftp.on("REALPATH", (id, path) => {
    const name = normalize(`/${path === "." ? "" : path}`);
    sftp.name(id, [{ filename: name, longname: name, attrs: emptyAttributes }]);
  });
  sftp.on("OPEN", (id, path, flags) =>
    answer(id, async () => keep(id, { kind: "file", file: await fs.open(inRoot(path), modeOf(flags)) })),
  );
  sftp.on("READ", (id, name, offset, length) =>
    answer(id, async () => {
      const handle = found(name);
      if (handle?.kind !== "file") return sftp.status(id, STATUS_CODE.FAILURE);
      const { bytesRead, buffer } = await handle.file.read(Buffer.alloc(length), 0, length, offset);
      if (bytesRead === 0) sftp.status(id, STATUS_CODE.EOF);
      else sftp.data(id, buffer.subarray(0, bytesRead));
    }),
  );
  sftp.on("WRITE", (id, name, offset, data) =>
    answer(id, async () => {
      const handle = found(name);
      if (handle?.kind !== "file") return sftp.status(id, STATUS_CODE.FAILURE);
      for (let at = 0; at < data.length; ) {
        at += (await handle.file.write(data, at, data.length - at, offset + at)).bytesWritten;
      }
      done(id);
    }),
  );
  sftp.on("CLOSE", (id, name) =>
    answer(id, async () => {
      const handle = found(name);
      if (name.length === 4) handles.delete(name.readUInt32BE());
      if (handle?.kind === "file") await handle.file.close();
      done(id);
    }),
  );
  sftp.on("OPENDIR", (id, path) =>
    answer(id, async () => {
      await fs.access(inRoot(path));
      keep(id, { kind: "folder", path: inRoot(path), listed: false });
    }),
  );
  sftp.on("READDIR", (id, name) =>
    answer(id, async () => {
      const handle = found(name);
      if (handle?.kind !== "folder") return sftp.status(id, STATUS_CODE.FAILURE);
      const names = handle.listed ? [] : await fs.readdir(handle.path);
      handle.listed = true;
      if (names.length === 0) return sftp.status(id, STATUS_CODE.EOF);
      const entries = names.map(async (filename) => {
        const attrs = attributes(await fs.lstat(join(handle.path, filename)));
        return { filename, longname: filename, attrs };
      });
      sftp.name(id, await Promise.all(entries));
    }),
  );
  const stat = (id: number, path: string) =>
    answer(id, async () => sftp.attrs(id, attributes(await fs.stat(inRoot(path)))));
  sftp.on("STAT", stat);
  sftp.on("LSTAT", stat);
  sftp.on("FSTAT", (id, name) =>
    answer(id, async () => {
      const handle = found(name);
      if (handle?.kind !== "file") return sftp.status(id, STATUS_CODE.FAILURE);
      sftp.attrs(id, attributes(await handle.file.stat()));
    }),
  );
  // Owners, modes and times are of no consequence here, but clients insist on setting them.
  sftp.on("SETSTAT", (id) => done(id));
  sftp.on("FSETSTAT", (id) => done(id));
  sftp.on("REMOVE", (id, path) => answer(id, async () => done(id, await fs.unlink(inRoot(path)))));
  sftp.on("RMDIR", (id, path) => answer(id, async () => done(id, await fs.rmdir(inRoot(path)))));
  sftp.on("MKDIR", (id, path) => answer(id, async () => done(id, await fs.mkdir(inRoot(path)))));
  sftp.on("RENAME", (id, from, to) =>
    answer(id, async () => done(id, await fs.rename(inRoot(from), inRoot(to)))),
  );
  // A client that has said all waits for its server to end, too.
  sftp.on("end", () => sftp.end());
  sftp.on("close", () => {
    for (const handle of handles.values())
      if (handle.kind === "file") void handle.file.close().catch(() => {});
    handles.clear();
  });
}

const emptyAttributes: Attributes = { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 };

function attributes(stats: Awaited<ReturnType<typeof fs.stat>>): Attributes {
  const { mode, uid, gid, size, atimeMs, mtimeMs } = stats;
  const seconds = (ms: number | bigint) => Math.floor(Number(ms) / 1000);
  return {
    mode: Number(mode),
    uid: Number(uid),
    gid: Number(gid),
    size: Number(size),
    atime: seconds(atimeMs),
    mtime: seconds(mtimeMs),
  };
}

/** As numbers: the letters that Node has for it cannot say "write anywhere, create, keep what is there". */
function modeOf(flags: number): number {
  const has = (flag: number) => (flags & flag) !== 0;
  const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_TRUNC } = fs.constants;
  const direction = has(OPEN_MODE.WRITE) ? (has(OPEN_MODE.READ) ? O_RDWR : O_WRONLY) : O_RDONLY;
  const more: [number, number][] = [
    [OPEN_MODE.APPEND, O_APPEND],
    [OPEN_MODE.CREAT, O_CREAT],
    [OPEN_MODE.EXCL, O_EXCL],
    [OPEN_MODE.TRUNC, O_TRUNC],
  ];
  return more.reduce((mode, [flag, bit]) => (has(flag) ? mode | bit : mode), direction);
}

function statusOf(error: NodeJS.ErrnoException): number {
  if (error.code === "ENOENT") return STATUS_CODE.NO_SUCH_FILE;
  if (error.code === "EACCES" || error.code === "EPERM") return STATUS_CODE.PERMISSION_DENIED;
  return STATUS_CODE.FAILURE;
}
