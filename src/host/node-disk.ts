/**
 * The real disk. The calls are synchronous inside asynchronous methods on purpose: a durable append is two short
 * system calls, and the hops through the thread pool cost more than the calls themselves.
 */
import * as fs from "node:fs";
import { DiskError, type Disk, type DiskFile, type FileStat, type OpenMode, type TailCut } from "./disk.ts";
import { fileSystemOf } from "./file-systems.ts";

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NONBLOCK, O_RDONLY, O_RDWR } = fs.constants;

// O_NONBLOCK means nothing to a file; without it the open of a named pipe would stop the whole process.
const flags: Readonly<Record<OpenMode, number>> = {
  read: O_RDONLY | O_NONBLOCK,
  append: O_RDWR | O_APPEND,
  update: O_RDWR,
  create: O_RDWR | O_CREAT | O_EXCL,
  create_append: O_RDWR | O_CREAT | O_EXCL | O_APPEND,
};

/** The disk of this machine. */
export function nodeDisk(): Disk {
  return {
    open: async (path, mode, permissions = 0o600) =>
      attempt("open", path, () => openFile(path, mode, fs.openSync(path, flags[mode], permissions))),
    stat: async (path) =>
      attemptOrAbsent("stat", path, () => toFileStat(fs.statSync(path, { bigint: true }))),
    statLink: async (path) =>
      attemptOrAbsent("stat", path, () => toFileStat(fs.lstatSync(path, { bigint: true }))),
    realPath: async (path) => attempt("resolve", path, () => fs.realpathSync.native(path)),
    list: async (path) => attempt("list", path, () => fs.readdirSync(path)),
    makeDirectory: async (path, permissions = 0o700) =>
      attempt("make directory", path, () => fs.mkdirSync(path, { mode: permissions })),
    rename: async (from, to) => attempt("rename", `${from} to ${to}`, () => fs.renameSync(from, to)),
    link: async (from, to) => attempt("link", `${from} to ${to}`, () => fs.linkSync(from, to)),
    remove: async (path) => attempt("remove", path, () => fs.unlinkSync(path)),
    removeDirectory: async (path) => attempt("remove directory", path, () => fs.rmdirSync(path)),
    setAttributes: async (path, attributes) =>
      attempt("set attributes of", path, () => setAttributes(path, attributes)),
    syncDirectory: async (path) => attempt("sync directory", path, () => syncDirectory(path)),
    cutTail: async (cut) => attempt("cut", cut.path, () => cutTail(cut)),
    fileSystem: async (path) => attempt("find the file system of", path, () => fileSystemOf(path)),
    watch: watchDirectory,
  };
}

function openFile(path: string, mode: OpenMode, descriptor: number): DiskFile {
  let open = true;
  // Systems differ in what a position means to a file that is open for append, so none is given.
  const appends = mode === "append" || mode === "create_append";
  const onOpen = <T>(verb: string, effect: () => T): T => {
    // The number may belong to another file by now; using it would write into that one.
    if (!open) throw new DiskError("EBADF", verb, path);
    return attempt(verb, path, effect);
  };
  return {
    path,
    read: async (into, position) =>
      onOpen("read", () => fs.readSync(descriptor, into, 0, into.length, position)),
    write: async (bytes, position) =>
      onOpen("write", () =>
        fs.writeSync(descriptor, bytes, 0, bytes.length, appends ? null : (position ?? null)),
      ),
    sync: async () => onOpen("sync", () => fs.fdatasyncSync(descriptor)),
    truncate: async (size) => onOpen("truncate", () => fs.ftruncateSync(descriptor, size)),
    stat: async () => onOpen("stat", () => toFileStat(fs.fstatSync(descriptor, { bigint: true }))),
    close: async () => {
      onOpen("close", () => {
        open = false; // Also where close fails: the kernel has given the number back.
        fs.closeSync(descriptor);
      });
    },
  };
}

function attempt<T>(verb: string, path: string, effect: () => T): T {
  try {
    return effect();
  } catch (error) {
    throw new DiskError(codeOf(error), verb, path, error);
  }
}

function attemptOrAbsent<T>(verb: string, path: string, effect: () => T): T | undefined {
  try {
    return effect();
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new DiskError(code, verb, path, error);
  }
}

/** The system's name of a failure. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "UNKNOWN";
}

function toFileStat(stats: fs.BigIntStats): FileStat {
  return {
    kind: kindOf(stats),
    size: Number(stats.size),
    dev: String(stats.dev),
    inode: String(stats.ino),
    birthtimeNs: String(stats.birthtimeNs),
    mtimeNs: String(stats.mtimeNs),
    ctimeNs: String(stats.ctimeNs),
    mode: Number(stats.mode) & 0o777,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    links: Number(stats.nlink),
  };
}

function kindOf(stats: fs.BigIntStats): FileStat["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "link" : "other";
}

function setAttributes(path: string, attributes: { mode: number; uid: number; gid: number }): void {
  const current = fs.statSync(path);
  if (current.uid !== attributes.uid || current.gid !== attributes.gid) {
    try {
      fs.chownSync(path, attributes.uid, attributes.gid);
    } catch (error) {
      // Only root may give a file away; for anybody else it stays his own, and the mode still counts.
      if (codeOf(error) !== "EPERM") throw error;
    }
  }
  fs.chmodSync(path, attributes.mode); // After chown, which may clear bits.
}

function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const descriptor = fs.openSync(path, O_RDONLY | O_DIRECTORY);
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Without a pause between the comparison and the cut, so that nothing of this process comes between them. */
function cutTail(cut: TailCut): boolean {
  const guard = attemptOrAbsent("stat", cut.guard.path, () => fs.statSync(cut.guard.path, { bigint: true }));
  if (guard === undefined || String(guard.ino) !== cut.guard.inode) return false;
  // A new descriptor: after a failed sync an old one may show bytes that the disk lacks without an error.
  const descriptor = fs.openSync(cut.path, O_RDWR);
  try {
    if (fs.fstatSync(descriptor).size !== cut.size + cut.bytes.length) return false;
    if (!hasBytesAt(descriptor, cut.size, cut.bytes)) return false;
    fs.ftruncateSync(descriptor, cut.size);
    fs.fsyncSync(descriptor);
    return true;
  } finally {
    fs.closeSync(descriptor);
  }
}

function hasBytesAt(descriptor: number, position: number, expected: Uint8Array): boolean {
  const found = new Uint8Array(expected.length);
  let count = 0;
  while (count < found.length) {
    const read = fs.readSync(descriptor, found, count, found.length - count, position + count);
    if (read === 0) return false;
    count += read;
  }
  return Buffer.compare(found, expected) === 0;
}

/** Between two looks, where the system tells of no change. */
const lookMs = 500;

/** The system's notices, and looks at a steady pace: some file systems give none, and their number is limited. */
function watchDirectory(path: string, changed: () => void): () => void {
  const timer = setInterval(changed, lookMs).unref();
  let watcher: fs.FSWatcher | undefined;
  try {
    watcher = fs.watch(path, { persistent: false }, () => changed());
    watcher.on("error", () => watcher?.close());
  } catch {
    // Absent, not permitted, or no notice left to be had: then the looks have to do.
  }
  return () => {
    clearInterval(timer);
    watcher?.close();
  };
}
