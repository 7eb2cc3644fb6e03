/**
 * The disk, as narrow as durability needs it: every verb is one effect that a crash can precede, cut or follow.
 * All methods reject with {@link DiskError}; none of them retries, none of them loops over a short count.
 */

/** What a path or an open file is. `inode`, `dev` and times are decimal strings, since they exceed 2^53. */
export interface FileStat {
  readonly kind: "file" | "directory" | "link" | "other";
  readonly size: number;
  readonly dev: string;
  readonly inode: string;
  /** Birth time in nanoseconds, "0" where the file system keeps none. */
  readonly birthtimeNs: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
  /** Permission bits, `0o777` at most. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Number of hard links. */
  readonly links: number;
}

/** A failed effect. `code` is the system's name of it: ENOENT, ENOSPC, EIO, … or `SHORT_WRITE`. */
export class DiskError extends Error {
  override readonly name = "DiskError";
  readonly code: string;
  readonly path: string;
  constructor(code: string, verb: string, path: string, cause?: unknown) {
    super(`${verb} ${path}: ${code}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.path = path;
  }
}

/** True for a {@link DiskError} with one of the given codes. */
export function isDiskError(error: unknown, ...codes: string[]): error is DiskError {
  return error instanceof DiskError && (codes.length === 0 || codes.includes(error.code));
}

/** True where an effect failed for want of something that may be there later: space, memory, descriptors. */
export function isExhausted(error: DiskError): boolean {
  return isDiskError(error, "ENOSPC", "EDQUOT", "SHORT_WRITE", "EMFILE", "ENFILE", "ENOMEM", "EAGAIN");
}

/** An open file. The caller must close it. */
export interface DiskFile {
  readonly path: string;
  /** Reads into `into` from byte `position`; resolves to the bytes read, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /**
   * One write: at the end where the file is open for append, else at `position`, else after the last write. Resolves to
   * the count written, which may be short.
   */
  write(bytes: Uint8Array, position?: number): Promise<number>;
  /** Makes content and size durable (fdatasync, F_FULLFSYNC on macOS). */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  stat(): Promise<FileStat>;
  close(): Promise<void>;
}

/** How a file is opened. `create*` fail with EEXIST where the path exists. */
export type OpenMode =
  /** Read-only; must exist. */
  | "read"
  /** Read and append at the end; must exist. */
  | "append"
  /** Read and write in place; must exist. */
  | "update"
  /** New, read and write. */
  | "create"
  /** New, read and append at the end. */
  | "create_append";

/** What must hold for {@link Disk.cutTail} to cut. */
export interface TailCut {
  /** The file to cut. */
  readonly path: string;
  /** Its size before the bytes that are to go. */
  readonly size: number;
  /** The bytes that must stand from `size` to the end, no more and no less. */
  readonly bytes: Uint8Array;
  /** A lock file that must still be the inode which the caller locked. */
  readonly guard: { readonly path: string; readonly inode: string };
}

/** Facts about the file system that holds a path. */
export interface FileSystem {
  /** The name in the mount table: `ext4`, `xfs`, `tmpfs`, `nfs4`, `9p`, `fuse.sshfs`, … or `unknown`. */
  readonly type: string;
  /** False for network, 9p, virtiofs and FUSE mounts, where locks or syncs cannot be trusted. */
  readonly trusted: boolean;
  /** Changes with every mount; used only to tell one mount from another. */
  readonly mountId: string;
}

/** The file system. Paths are absolute. New files get mode 0600 and new directories 0700 unless `mode` says otherwise. */
export interface Disk {
  open(path: string, mode: OpenMode, permissions?: number): Promise<DiskFile>;
  /** Follows links; undefined where nothing is. */
  stat(path: string): Promise<FileStat | undefined>;
  /** The path itself, not what a link points at; undefined where nothing is. */
  statLink(path: string): Promise<FileStat | undefined>;
  /** Canonical path, links resolved; rejects ENOENT where nothing is. */
  realPath(path: string): Promise<string>;
  /** Names in a directory, unordered; rejects ENOENT where nothing is. */
  list(path: string): Promise<string[]>;
  makeDirectory(path: string, permissions?: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Hard link; rejects EEXIST where `to` exists. */
  link(from: string, to: string): Promise<void>;
  /** Removes a file or a link. */
  remove(path: string): Promise<void>;
  /** Removes an empty directory. */
  removeDirectory(path: string): Promise<void>;
  /** Sets permission bits and, where it may, the owner. */
  setAttributes(path: string, attributes: { mode: number; uid: number; gid: number }): Promise<void>;
  /** Makes the names in a directory durable. A no-op where the platform has none (Windows). */
  syncDirectory(path: string): Promise<void>;
  /**
   * In one step without waiting: compares guard, size and bytes, cuts the file to `cut.size` and makes that durable.
   * Resolves to false, having cut nothing, where anything differs.
   */
  cutTail(cut: TailCut): Promise<boolean>;
  /** What holds the path, which must exist. */
  fileSystem(path: string): Promise<FileSystem>;
  /**
   * Calls `changed` when something in the directory may have changed, and now and then in case the system did not tell.
   * Only a hint. Keeps no process alive. Returns how to end it.
   */
  watch(path: string, changed: () => void): () => void;
}
