/** What every disk promises when it fills up, as data. */
import { join } from "node:path";
import { expect } from "vitest";
import { isDiskError, type Disk, type DiskFile } from "../../src/host/index.ts";
import { refusal, type DiskPromise } from "./disk-access.ts";

/** More than a disk of these tests has room for, in tries. */
const triesMax = 1000;

/** Writes until nothing more fits. Resolves to the bytes that were acknowledged. */
async function fill(file: DiskFile): Promise<number> {
  let total = 0;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const bytes = Uint8Array.from({ length: 10_000 }, (_, index) => byteAt(total + index));
    try {
      total += await file.write(bytes);
    } catch (error) {
      if (isDiskError(error, "ENOSPC")) return total;
      throw error;
    }
  }
  throw new Error("the disk has no end");
}

const byteAt = (position: number): number => 1 + (position % 251);

async function expectFilled(file: DiskFile, total: number): Promise<void> {
  expect((await file.stat()).size).toBe(total);
  const into = new Uint8Array(total + 1);
  expect(await file.read(into, 0)).toBe(total);
  expect(into.subarray(0, total).every((byte, position) => byte === byteAt(position))).toBe(true);
}

/** Repeats until it is refused for want of space. Resolves to how often it was not. */
async function untilFull(work: (count: number) => Promise<unknown>): Promise<number> {
  for (let count = 0; count < triesMax; count += 1) {
    const code = await refusal(work(count));
    if (code === undefined) continue;
    expect(code).toBe("ENOSPC");
    return count;
  }
  throw new Error("the disk has no end");
}

async function create(disk: Disk, path: string): Promise<void> {
  await (await disk.open(path, "create")).close();
}

/** The promises. The disk has room for some ten files and for less than a few hundred thousand bytes. */
export const fullDiskContract: readonly DiskPromise[] = [
  {
    name: "of what does not fit a part is written and told, then all is refused, and what was told is there",
    async run(disk, directory) {
      const file = await disk.open(join(directory, "file"), "create_append");
      const total = await fill(file);
      expect(total).toBeGreaterThan(0);
      await file.sync();
      await expectFilled(file, total);
      expect(await refusal(file.write(new Uint8Array(1)))).toBe("ENOSPC");
      expect(await file.write(new Uint8Array())).toBe(0);
      await file.close();
    },
  },
  {
    name: "what is there can still be written in place, renamed, cut and removed",
    async run(disk, directory) {
      const [path, guard, moved] = ["file", "guard", "moved"].map((name) => join(directory, name)) as [
        string,
        string,
        string,
      ];
      await create(disk, guard);
      const file = await disk.open(path, "create");
      const total = await fill(file);
      expect(await file.write(Uint8Array.of(byteAt(0), byteAt(1)), 0)).toBe(2);
      await file.sync();
      await disk.rename(path, moved);
      await disk.syncDirectory(directory);
      await expectFilled(file, total);
      const inode = (await disk.stat(guard))?.inode ?? "";
      const bytes = Uint8Array.of(byteAt(total - 2), byteAt(total - 1));
      const cut = { path: moved, size: total - 2, bytes, guard: { path: guard, inode } };
      expect(await disk.cutTail(cut)).toBe(true);
      await expectFilled(file, total - 2);
      await file.close();
      await disk.remove(moved);
      expect(await disk.list(directory)).toEqual(["guard"]);
    },
  },
  {
    name: "what is cut makes room",
    async run(disk, directory) {
      const file = await disk.open(join(directory, "file"), "create");
      const total = await fill(file);
      await file.truncate(0);
      const other = await disk.open(join(directory, "other"), "create");
      expect(await other.write(new Uint8Array(4096))).toBe(4096);
      await file.truncate(0);
      expect(await file.write(new Uint8Array(4096), 0)).toBe(4096);
      expect(total).toBeGreaterThan(8192);
      await Promise.all([file.close(), other.close()]);
    },
  },
  {
    name: "what is removed makes room when nobody has it open any more",
    async run(disk, directory) {
      const other = await disk.open(join(directory, "other"), "create");
      const file = await disk.open(join(directory, "file"), "create");
      const total = await fill(file);
      await disk.remove(join(directory, "file"));
      expect(await refusal(other.write(new Uint8Array(4096)))).toBe("ENOSPC");
      await expectFilled(file, total);
      await file.close();
      expect(await other.write(new Uint8Array(4096))).toBe(4096);
      await other.close();
    },
  },
  {
    name: "no file and no directory is made where there is no room for one, and nothing of it is left",
    async run(disk, directory) {
      const files = await untilFull((count) => create(disk, join(directory, `file ${count}`)));
      expect(files).toBeGreaterThan(1);
      expect(await refusal(disk.makeDirectory(join(directory, "sub")))).toBe("ENOSPC");
      expect(await refusal(create(disk, join(directory, "file 0")))).toBe("EEXIST");
      expect((await disk.list(directory)).length).toBe(files);
      await disk.remove(join(directory, "file 0"));
      await disk.makeDirectory(join(directory, "sub"));
      expect(await refusal(create(disk, join(directory, "sub", "file")))).toBe("ENOSPC");
      expect(await disk.list(join(directory, "sub"))).toEqual([]);
      await disk.removeDirectory(join(directory, "sub"));
      await create(disk, join(directory, "again"));
    },
  },
];
