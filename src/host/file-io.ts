import type { Disk, DiskFile } from "./disk.ts";
import { DiskError, isDiskError } from "./disk.ts";

/** Whole reads and writes made of single effects, for files where a short count only means that there is more to do. */

/** Fills `into` from byte `position` on; resolves to the count read, short only at the file's end. */
export async function readFully(file: DiskFile, into: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const count = await file.read(into.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** The `count` bytes from `position` on; fewer where the file ends before. */
export async function readAt(file: DiskFile, position: number, count: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(count);
  return bytes.subarray(0, await readFully(file, bytes, position));
}

/** The bytes of a whole file; undefined where there is none. Rejects EFBIG where it has more than `bytesMax`. */
export async function readWhole(disk: Disk, path: string, bytesMax: number): Promise<Uint8Array | undefined> {
  return await readIfThere(disk, path, async (file) => {
    const { size } = await file.stat();
    if (size > bytesMax) throw new DiskError("EFBIG", "read", path);
    return await readAt(file, 0, size);
  });
}

/** The first `bytesMax` bytes of a file, or all where it is shorter; undefined where there is none. */
export async function readBeginning(
  disk: Disk,
  path: string,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  return await readIfThere(disk, path, (file) => readAt(file, 0, bytesMax));
}

async function readIfThere<T>(
  disk: Disk,
  path: string,
  read: (file: DiskFile) => Promise<T>,
): Promise<T | undefined> {
  let file: DiskFile;
  try {
    file = await disk.open(path, "read");
  } catch (error) {
    if (isDiskError(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

/**
 * Writes all of `bytes`, at `position` or at the end of a file open for append; goes on after a short count, which is
 * followed by the error that caused it. Not for lines of a log, where one line is one write.
 */
export async function writeAll(file: DiskFile, bytes: Uint8Array, position?: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const rest = bytes.subarray(done);
    const count = await (position === undefined ? file.write(rest) : file.write(rest, position + done));
    if (count === 0) throw new DiskError("SHORT_WRITE", "write", file.path);
    done += count;
  }
}
