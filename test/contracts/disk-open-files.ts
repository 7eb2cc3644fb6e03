/** What every disk promises of files that are open. */
import { join } from "node:path";
import { expect } from "vitest";
import { encode, inodeOf, put, refusal, textOf, using, type DiskPromise } from "./disk-access.ts";

/** The promises of open files: their positions, and that they stay the same file whatever becomes of its name. */
export const openFilePromises: readonly DiskPromise[] = [
  {
    name: "an open file is written under whatever name it has by then",
    async run(disk, directory) {
      const [path, moved] = [join(directory, "file"), join(directory, "moved")];
      await put(disk, path, "one");
      await using(disk, path, "append", async (file) => {
        const inode = await inodeOf(disk, path);
        await disk.rename(path, moved);
        await put(disk, path, "another");
        expect(await file.write(encode(" two"))).toBe(4);
        await file.sync();
        expect((await file.stat()).inode).toBe(inode);
      });
      expect(await textOf(disk, moved)).toBe("one two");
      expect(await textOf(disk, path)).toBe("another");
    },
  },
  {
    name: "an open file without a name is written, cut and synced, and touches nobody who took the name",
    async run(disk, directory) {
      const path = join(directory, "file");
      await put(disk, path, "one");
      await using(disk, path, "update", async (file) => {
        await disk.remove(path);
        await put(disk, path, "another");
        expect(await file.write(encode("ONE TWO"), 0)).toBe(7);
        await file.truncate(5);
        await file.sync();
        const into = new Uint8Array(9);
        expect(await file.read(into, 0)).toBe(5);
        expect([...into.subarray(0, 5)]).toEqual([...encode("ONE T")]);
        expect(await file.stat()).toMatchObject({ links: 0, size: 5 });
      });
      expect(await textOf(disk, path)).toBe("another");
    },
  },
  {
    name: "as long as a file is open no other one has its inode",
    async run(disk, directory) {
      const path = join(directory, "file");
      await put(disk, path, "one");
      await using(disk, path, "read", async (file) => {
        const { inode } = await file.stat();
        await disk.remove(path);
        await disk.syncDirectory(directory);
        for (const name of ["a", "b", "c", "d"]) {
          await put(disk, join(directory, name), name);
          expect(await inodeOf(disk, join(directory, name))).not.toBe(inode);
        }
      });
    },
  },
  {
    name: "a write at a position does not move the one where the next goes on",
    async run(disk, directory) {
      const path = join(directory, "file");
      await using(disk, path, "create", async (file) => {
        await file.write(encode("ab"));
        await file.write(encode("XYZ"), 4);
        await file.write(encode("cd"));
        expect(await file.write(encode(""))).toBe(0);
        await file.truncate(1);
        // The place where it goes on is beyond the end now.
        await file.write(encode("e"));
      });
      expect(await textOf(disk, path)).toBe("a\0\0\0e");
    },
  },
  {
    name: "whoever appends goes on at the end that is there, also when somebody has cut the file",
    async run(disk, directory) {
      const path = join(directory, "log");
      await using(disk, path, "create_append", async (file) => {
        await file.write(encode("one two"));
        await using(disk, path, "update", (other) => other.truncate(3));
        expect(await file.write(encode(" three"))).toBe(6);
        await file.truncate(12);
        expect(await file.write(encode("!"), 0)).toBe(1);
      });
      expect(await textOf(disk, path)).toBe("one three\0\0\0!");
    },
  },
  {
    name: "what is open for reading only is neither written nor cut, be it a file or a directory",
    async run(disk, directory) {
      const path = join(directory, "file");
      await put(disk, path, "one");
      for (const each of [path, directory]) {
        await using(disk, each, "read", async (file) => {
          expect(await refusal(file.write(encode("x")))).toBe("EBADF");
          expect(await refusal(file.truncate(0))).toBe("EINVAL");
          await file.sync();
        });
      }
      expect(await textOf(disk, path)).toBe("one");
    },
  },
  {
    name: "whoever opens what is being written sees each write when it has returned",
    async run(disk, directory) {
      const path = join(directory, "file");
      await using(disk, path, "create", async (file) => {
        await using(disk, path, "read", async (reader) => {
          const into = new Uint8Array(4);
          expect(await reader.read(into, 0)).toBe(0);
          await file.write(encode("one"));
          expect((await reader.stat()).size).toBe(3);
          expect(await reader.read(into, 1)).toBe(2);
          await file.truncate(2);
          expect(await reader.read(into, 1)).toBe(1);
        });
      });
    },
  },
];
