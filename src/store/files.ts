import { dirname } from "node:path";
import type { Disk } from "../host/index.ts";
import { DiskError, isDiskError } from "../host/index.ts";

/** Small whole files, made durable. A short count is a failure: the system swallowed an error. */

/** Writes a new file and syncs it. Rejects EEXIST where there is one; removes what it wrote when it fails. */
export async function createDurably(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  const file = await disk.open(path, "create");
  try {
    if ((await file.write(bytes)) !== bytes.length) throw new DiskError("SHORT_WRITE", "write", path);
    await file.sync();
  } catch (error) {
    await file.close();
    await disk.remove(path);
    throw error;
  }
  await file.close();
}

/** Makes a directory and those above it that are missing; each new name is durable. */
export async function makeDirectoryDurably(disk: Disk, path: string): Promise<void> {
  if ((await disk.stat(path))?.kind === "directory") return;
  const parent = dirname(path);
  if (parent !== path) await makeDirectoryDurably(disk, parent);
  try {
    await disk.makeDirectory(path);
  } catch (error) {
    if (!isDiskError(error, "EEXIST")) throw error;
  }
  await disk.syncDirectory(parent);
}

/** The bytes of a whole file, at most `bytesMax`; undefined where there is none. */
export async function readWhole(disk: Disk, path: string, bytesMax: number): Promise<Uint8Array | undefined> {
  let file;
  try {
    file = await disk.open(path, "read");
  } catch (error) {
    if (isDiskError(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    const { size } = await file.stat();
    if (size > bytesMax) throw new DiskError("EFBIG", "read", path);
    const bytes = new Uint8Array(size);
    let filled = 0;
    while (filled < size) {
      const count = await file.read(bytes.subarray(filled), filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}
