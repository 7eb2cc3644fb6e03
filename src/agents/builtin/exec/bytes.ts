import { DiskError, isDiskError, type Disk, type DiskFile } from "../../../host/index.ts";

/** Writes all of `bytes`, going on after short counts. Rejects with the system's code where the rest does not fit. */
export async function writeAll(file: DiskFile, bytes: Uint8Array, position?: number): Promise<void> {
  let done = 0;
  while (done < bytes.byteLength) {
    const rest = bytes.subarray(done);
    const count = await (position === undefined ? file.write(rest) : file.write(rest, position + done));
    if (count === 0) throw new DiskError("SHORT_WRITE", "write", file.path);
    done += count;
  }
}

/** Reads from `position` until `length` bytes or the file's end. */
export async function readUpTo(file: DiskFile, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const count = await file.read(bytes.subarray(done), position + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

/** The first `bytesMax` bytes of a small file; undefined where it, or its directory, is absent. */
export async function readSmall(disk: Disk, path: string, bytesMax: number): Promise<Uint8Array | undefined> {
  let file: DiskFile;
  try {
    file = await disk.open(path, "read");
  } catch (error) {
    if (isDiskError(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
  try {
    return await readUpTo(file, 0, bytesMax);
  } finally {
    await file.close();
  }
}
