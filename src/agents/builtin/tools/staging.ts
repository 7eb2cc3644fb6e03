/** Content that waits beside its target, durable, under a name of its operation. */
import { dirname, join } from "node:path";
import {
  isDiskError,
  sha256,
  type Disk,
  type DiskFile,
  type FileStat,
  writeAll,
} from "../../../host/index.ts";

/** A staged file: durable under its name, with the identity that its target will have. */
export interface StagedFile {
  readonly path: string;
  readonly inode: string;
  readonly birthtimeNs: string;
  readonly sha256: string;
}

/** Permission bits of a new file and a new directory, before the system's mask. */
export const newFileMode = 0o644;
/** See {@link newFileMode}. */
export const newDirectoryMode = 0o755;

/** Where an operation stages what goes into `directory`. */
export function stagedPath(directory: string, operation: string): string {
  return join(directory, `.holdfast-${operation}`);
}

/** The name that a staged file gets when the effect begins; from then on nothing proves that it did not happen. */
export function claimedPath(staged: string): string {
  return `${staged}.go`;
}

/** The name that a staged file gets when a recovery decides that the effect never began, and now never will. */
export function voidedPath(staged: string): string {
  return `${staged}.void`;
}

/**
 * Stages `bytes` at `path`, with mode and owner of `like` where given, and makes file and name durable. Rejects with
 * the DiskError that prevented it, having removed what there was. A leftover of the same operation is replaced.
 */
export async function stageContent(
  disk: Disk,
  path: string,
  bytes: Uint8Array,
  like: FileStat | undefined,
): Promise<StagedFile & { readonly stat: FileStat }> {
  const file = await createAnew(disk, path);
  try {
    try {
      await writeAll(file, bytes, 0);
      if (like !== undefined) await disk.setAttributes(path, like);
      await file.sync();
    } finally {
      await file.close();
    }
    await disk.syncDirectory(dirname(path));
    const stat = await disk.statLink(path);
    const { inode, birthtimeNs } = stat ?? { inode: "", birthtimeNs: "0" };
    if (stat === undefined) throw new Error(`${path} vanished while it was staged.`);
    return { path, inode, birthtimeNs, sha256: sha256(bytes), stat };
  } catch (error) {
    if (isDiskError(error)) await removeQuietly(disk, path);
    throw error;
  }
}

async function createAnew(disk: Disk, path: string): Promise<DiskFile> {
  try {
    return await disk.open(path, "create", newFileMode);
  } catch (error) {
    if (!isDiskError(error, "EEXIST")) throw error;
    await disk.remove(path);
    return await disk.open(path, "create", newFileMode);
  }
}

/** Removes a file if it is there; true where it was. */
export async function removeIfThere(disk: Disk, path: string): Promise<boolean> {
  try {
    await disk.remove(path);
    return true;
  } catch (error) {
    if (isDiskError(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
}

/** Removes a file that only litters; where that fails, the failure that led here is the one to tell. */
export async function removeQuietly(disk: Disk, path: string): Promise<void> {
  try {
    await disk.remove(path);
  } catch (error) {
    if (!isDiskError(error)) throw error;
  }
}

/** Makes a directory with its parents, each durable in its own parent; also where an earlier death left it unsynced. */
export async function ensureDirectory(disk: Disk, path: string, permissions: number): Promise<void> {
  const parent = dirname(path);
  if ((await disk.stat(path)) === undefined && parent !== path) {
    await ensureDirectory(disk, parent, permissions);
    try {
      await disk.makeDirectory(path, permissions);
    } catch (error) {
      if (!isDiskError(error, "EEXIST")) throw error;
    }
  }
  await disk.syncDirectory(parent);
}
