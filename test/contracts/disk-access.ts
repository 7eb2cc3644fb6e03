/** What the promises of disks are written with. */
import { expect } from "vitest";
import { isDiskError, type Disk, type DiskFile, type OpenMode } from "../../src/host/index.ts";

/** One promise. `directory` exists, is empty, and belongs to this run. */
export interface DiskPromise {
  readonly name: string;
  readonly run: (disk: Disk, directory: string) => Promise<void>;
}

/** The bytes of a text. */
export const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The code with which an effect was refused, or undefined where it was not. */
export async function refusal(effect: Promise<unknown>): Promise<string | undefined> {
  try {
    await effect;
    return undefined;
  } catch (error) {
    if (isDiskError(error)) return error.code;
    throw error;
  }
}

/** Opens, uses and closes a file. */
export async function using<T>(
  disk: Disk,
  path: string,
  mode: OpenMode,
  use: (file: DiskFile) => Promise<T>,
) {
  const file = await disk.open(path, mode);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** Makes a file with that text. */
export async function put(disk: Disk, path: string, text: string): Promise<void> {
  await using(disk, path, "create", async (file) => {
    expect(await file.write(encode(text))).toBe(text.length);
  });
}

/** What a small file says. */
export async function textOf(disk: Disk, path: string): Promise<string> {
  return using(disk, path, "read", async (file) => {
    const into = new Uint8Array(1024);
    return Buffer.from(into.subarray(0, await file.read(into, 0))).toString("latin1");
  });
}

/** The number of the inode, or `absent`. */
export async function inodeOf(disk: Disk, path: string): Promise<string> {
  return (await disk.stat(path))?.inode ?? "absent";
}
