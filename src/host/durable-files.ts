import { dirname, join } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";
import { DiskError, isDiskError } from "./disk.ts";
import type { Ids } from "./ids.ts";
import { randomHex } from "./ids.ts";

/** Small whole files, made durable. A short count is a failure: the system swallowed an error. */

/** Writes and syncs the whole content of a file that is open, at its start. Rejects with a DiskError. */
export async function writeDurably(file: DiskFile, bytes: Uint8Array): Promise<void> {
  if ((await file.write(bytes, 0)) !== bytes.length) throw new DiskError("SHORT_WRITE", "write", file.path);
  await file.sync();
}

/** Writes a new file and syncs it. Rejects EEXIST where there is one; removes what it wrote when it fails. */
export async function createDurably(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const file = await disk.open(path, "create");
  try {
    try {
      await writeDurably(file, bytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    await removeQuietly(disk, path);
    throw error;
  }
}

/**
 * Puts a whole file at a path and makes it durable, name included: it is written beside it and renamed, so that nobody
 * ever sees half of it. Rejects EEXIST where something is there already, unless `replace` allows to put it in its place.
 */
export async function publishDurably(
  host: { readonly disk: Disk; readonly ids: Ids },
  path: string,
  bytes: Uint8Array,
  { replace }: { readonly replace: boolean },
): Promise<void> {
  const { disk, ids } = host;
  const directory = dirname(path);
  const staged = join(directory, `.holdfast-${randomHex(ids, 8)}`);
  await createDurably(disk, staged, bytes);
  try {
    await (replace ? disk.rename(staged, path) : takeName(disk, staged, path));
  } catch (error) {
    await removeQuietly(disk, staged);
    throw error;
  }
  await syncIfMine(disk, directory);
}

/** Gives a file a name that must be free: a rename would replace whatever came there meanwhile. */
async function takeName(disk: Disk, staged: string, path: string): Promise<void> {
  try {
    await disk.link(staged, path);
  } catch (error) {
    if (!isDiskError(error, "EPERM", "EMLINK", "ENOSYS", "EOPNOTSUPP", "ENOTSUP")) throw error;
    // A file system without links: then an empty file takes the name first.
    await (await disk.open(path, "create")).close();
    return await disk.rename(staged, path);
  }
  await removeQuietly(disk, staged);
}

/**
 * Makes a directory and those above it that are missing, and makes their names durable: also those that are there, since
 * whoever made them may have died before the sync. `within` is a directory above `path` whose own name is durable.
 */
export async function makeDirectoryDurably(disk: Disk, path: string, within?: string): Promise<void> {
  const parent = dirname(path);
  if (path === within || parent === path) return;
  await makeDirectoryDurably(disk, parent, within);
  try {
    await disk.makeDirectory(path);
  } catch (error) {
    if (!isDiskError(error, "EEXIST")) {
      // Whether a directory may be made is asked before whether it is there, on a read-only mount for one.
      if ((await disk.stat(path))?.kind !== "directory") throw error;
      return;
    }
    if ((await disk.stat(path))?.kind !== "directory") throw new DiskError("ENOTDIR", "make directory", path);
    return await syncIfMine(disk, parent);
  }
  await disk.syncDirectory(parent);
}

/** A directory that we may not even open is older than this product: nothing of ours was made in it. */
async function syncIfMine(disk: Disk, directory: string): Promise<void> {
  try {
    await disk.syncDirectory(directory);
  } catch (error) {
    if (!isDiskError(error, "EACCES", "EPERM", "EROFS", "EINVAL")) throw error;
  }
}

/** Removes a folder of ours that nobody has seen. What cannot be removed stays: it does no harm but take space. */
export async function removeFolderQuietly(disk: Disk, path: string): Promise<void> {
  let names: string[];
  try {
    names = await disk.list(path);
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return await removeQuietly(disk, path);
  }
  for (const name of names) await removeFolderQuietly(disk, join(path, name));
  try {
    await disk.removeDirectory(path);
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}

/** Removes a file; what cannot be removed stays: the failure that led here is the one to be told. */
export async function removeQuietly(disk: Disk, path: string): Promise<void> {
  try {
    await disk.remove(path);
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}
