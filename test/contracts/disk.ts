/** What every disk promises, as data: the disk in memory and the real one must keep the same promises. */
import { join } from "node:path";
import { expect } from "vitest";
import type { Disk } from "../../src/host/index.ts";
import { encode, inodeOf, put, refusal, textOf, using, type DiskPromise } from "./disk-access.ts";
import { openFilePromises } from "./disk-open-files.ts";

const openings: DiskPromise[] = [
  {
    name: "what exists is never created again, and what is absent is never opened",
    async run(disk, directory) {
      const path = join(directory, "file");
      for (const mode of ["read", "append", "update"] as const) {
        expect(await refusal(disk.open(path, mode))).toBe("ENOENT");
      }
      await put(disk, path, "one");
      for (const mode of ["create", "create_append"] as const) {
        expect(await refusal(disk.open(path, mode))).toBe("EEXIST");
      }
      expect(await textOf(disk, path)).toBe("one");
      expect(await refusal(disk.open(join(directory, "none", "file"), "create"))).toBe("ENOENT");
      expect(await refusal(disk.open(join(path, "file"), "create"))).toBe("ENOTDIR");
    },
  },
  {
    name: "new files and directories are private unless told otherwise",
    async run(disk, directory) {
      const path = join(directory, "file");
      await put(disk, path, "");
      await disk.makeDirectory(join(directory, "sub"));
      await (await disk.open(join(directory, "tool"), "create", 0o700)).close();
      expect(await disk.stat(path)).toMatchObject({ kind: "file", mode: 0o600, size: 0, links: 1 });
      expect(await disk.stat(join(directory, "sub"))).toMatchObject({ kind: "directory", mode: 0o700 });
      expect((await disk.stat(join(directory, "tool")))?.mode).toBe(0o700);
      await disk.setAttributes(path, { mode: 0o640, ...(await ownerOf(disk, path)) });
      expect((await disk.stat(path))?.mode).toBe(0o640);
    },
  },
  {
    name: "a closed file is not used again, whoever has its number by now",
    async run(disk, directory) {
      const path = join(directory, "file");
      const file = await disk.open(path, "create");
      await file.close();
      await put(disk, join(directory, "other"), "other");
      const other = await disk.open(join(directory, "other"), "update");
      for (const effect of [() => file.write(encode("x")), () => file.sync(), () => file.close()]) {
        expect(await refusal(effect())).toBe("EBADF");
      }
      await other.close();
      expect(await textOf(disk, join(directory, "other"))).toBe("other");
    },
  },
  {
    name: "a directory can be opened for reading only, and has no bytes",
    async run(disk, directory) {
      expect(await refusal(disk.open(directory, "append"))).toBe("EISDIR");
      const file = await disk.open(directory, "read");
      expect((await file.stat()).kind).toBe("directory");
      expect(await refusal(file.read(new Uint8Array(1), 0))).toBe("EISDIR");
      await file.close();
    },
  },
];

async function ownerOf(disk: Disk, path: string): Promise<{ uid: number; gid: number }> {
  const stat = await disk.stat(path);
  return { uid: stat?.uid ?? 0, gid: stat?.gid ?? 0 };
}

const contents: DiskPromise[] = [
  {
    name: "an append goes to the end, wherever the end is by then and whatever position is given",
    async run(disk, directory) {
      const path = join(directory, "log");
      const first = await disk.open(path, "create_append");
      const second = await disk.open(path, "append");
      expect(await first.write(encode("one "))).toBe(4);
      expect(await second.write(encode("two "))).toBe(4);
      expect(await first.write(encode("three"), 0)).toBe(5);
      await first.sync();
      await Promise.all([first.close(), second.close()]);
      expect(await textOf(disk, path)).toBe("one two three");
    },
  },
  {
    name: "writing in place changes what it covers only; without a position it goes on",
    async run(disk, directory) {
      const path = join(directory, "file");
      await using(disk, path, "create", async (file) => {
        await file.write(encode("abc"));
        await file.write(encode("def"));
      });
      await using(disk, path, "update", async (file) => {
        await file.write(encode("X"), 1);
        await file.write(encode("YZ"), 5);
      });
      expect(await textOf(disk, path)).toBe("aXcdeYZ");
    },
  },
  {
    name: "reading tells how much there was, and nothing beyond the end",
    async run(disk, directory) {
      const path = join(directory, "file");
      await put(disk, path, "abcdef");
      await using(disk, path, "read", async (file) => {
        const into = new Uint8Array(4);
        expect(await file.read(into, 4)).toBe(2);
        expect([...into]).toEqual([...encode("ef"), 0, 0]);
        expect(await file.read(into, 6)).toBe(0);
        expect(await file.read(into, 60)).toBe(0);
        expect(await refusal(file.write(encode("x")))).toBe("EBADF");
        await file.sync();
      });
      expect(await textOf(disk, path)).toBe("abcdef");
    },
  },
  {
    name: "what is cut does not come back when the file grows",
    async run(disk, directory) {
      const path = join(directory, "file");
      await put(disk, path, "abcdef");
      await using(disk, path, "update", async (file) => {
        await file.truncate(2);
        expect((await file.stat()).size).toBe(2);
        await file.truncate(4);
        await file.write(encode("!"), 5);
      });
      expect(await textOf(disk, path)).toBe("ab\0\0\0!");
    },
  },
  {
    name: "an open file is read to its end though it has no name any more",
    async run(disk, directory) {
      const path = join(directory, "file");
      await put(disk, path, "abc");
      await using(disk, path, "read", async (file) => {
        await disk.remove(path);
        expect((await file.stat()).links).toBe(0);
        expect(await file.read(new Uint8Array(8), 0)).toBe(3);
      });
      expect(await disk.stat(path)).toBeUndefined();
    },
  },
];

const names: DiskPromise[] = [
  {
    name: "a rename replaces a file whole and keeps its inode",
    async run(disk, directory) {
      const [from, to] = [join(directory, "next"), join(directory, "file")];
      await put(disk, from, "two");
      await put(disk, to, "one");
      const inode = await inodeOf(disk, from);
      await disk.rename(from, to);
      await disk.syncDirectory(directory);
      expect(await textOf(disk, to)).toBe("two");
      expect(await inodeOf(disk, to)).toBe(inode);
      expect(await disk.list(directory)).toEqual(["file"]);
      expect(await refusal(disk.rename(from, to))).toBe("ENOENT");
    },
  },
  {
    name: "a renamed directory takes along what is in it, and replaces no full one",
    async run(disk, directory) {
      const [from, to] = [join(directory, "a"), join(directory, "b")];
      await disk.makeDirectory(from);
      await put(disk, join(from, "file"), "one");
      await disk.makeDirectory(to);
      await put(disk, join(to, "file"), "two");
      expect(await refusal(disk.rename(from, to))).toBe("ENOTEMPTY");
      expect(await refusal(disk.rename(from, join(from, "sub")))).toBe("EINVAL");
      expect(await refusal(disk.rename(from, join(to, "file")))).toBe("ENOTDIR");
      expect(await refusal(disk.rename(join(from, "file"), to))).toBe("EISDIR");
      await disk.remove(join(to, "file"));
      await disk.rename(from, to);
      expect(await textOf(disk, join(to, "file"))).toBe("one");
      expect(await disk.list(directory)).toEqual(["b"]);
    },
  },
  {
    name: "a link is another name of the same file and replaces nothing",
    async run(disk, directory) {
      const [path, link] = [join(directory, "file"), join(directory, "link")];
      await put(disk, path, "one");
      await disk.link(path, link);
      expect(await disk.stat(link)).toMatchObject({ links: 2, inode: await inodeOf(disk, path) });
      await put(disk, join(directory, "other"), "other");
      expect(await refusal(disk.link(path, join(directory, "other")))).toBe("EEXIST");
      expect(await refusal(disk.link(join(directory, "none"), join(directory, "x")))).toBe("ENOENT");
      await disk.rename(path, link); // Two names of one file: nothing happens.
      expect((await disk.list(directory)).toSorted()).toEqual(["file", "link", "other"]);
      await disk.remove(path);
      expect(await textOf(disk, link)).toBe("one");
      expect((await disk.stat(link))?.links).toBe(1);
    },
  },
  {
    name: "files and directories are removed each by its own verb, and only empty directories",
    async run(disk, directory) {
      const sub = join(directory, "sub");
      await disk.makeDirectory(sub);
      expect(await refusal(disk.makeDirectory(sub))).toBe("EEXIST");
      await put(disk, join(sub, "file"), "one");
      expect(await refusal(disk.removeDirectory(sub))).toBe("ENOTEMPTY");
      expect(await refusal(disk.removeDirectory(join(sub, "file")))).toBe("ENOTDIR");
      expect(await refusal(disk.remove(sub))).toMatch(/^(EISDIR|EPERM)$/);
      await disk.remove(join(sub, "file"));
      expect(await refusal(disk.remove(join(sub, "file")))).toBe("ENOENT");
      await disk.removeDirectory(sub);
      expect(await disk.list(directory)).toEqual([]);
      expect(await refusal(disk.list(sub))).toBe("ENOENT");
      expect(await refusal(disk.syncDirectory(sub))).toBe("ENOENT");
    },
  },
  {
    name: "what is absent has no stat, also below a file",
    async run(disk, directory) {
      const path = join(directory, "file");
      await put(disk, path, "one");
      expect(await disk.stat(join(directory, "none"))).toBeUndefined();
      expect(await disk.statLink(join(path, "below"))).toBeUndefined();
      expect(await refusal(disk.realPath(join(directory, "none")))).toBe("ENOENT");
      expect(await disk.realPath(path)).toBe(path);
      expect((await disk.fileSystem(directory)).trusted).toBe(true);
      expect(await refusal(disk.fileSystem(join(directory, "none")))).toBe("ENOENT");
    },
  },
  {
    name: "a rename changes nothing where it is refused: onto what is above, by names too long, out of nothing",
    async run(disk, directory) {
      const [a, file, long] = [join(directory, "a"), join(directory, "a", "file"), "n".repeat(256)];
      await disk.makeDirectory(a);
      await put(disk, file, "one");
      expect(await refusal(disk.rename(file, a))).toBe("ENOTEMPTY");
      expect(await refusal(disk.rename(file, join(directory, long)))).toBe("ENAMETOOLONG");
      expect(await refusal(disk.rename(file, join(directory, "none", "file")))).toBe("ENOENT");
      expect(await refusal(disk.rename(file, join(file, "below")))).toBe("ENOTDIR");
      expect(await refusal(disk.open(join(a, long), "create"))).toBe("ENAMETOOLONG");
      expect(await refusal(disk.stat(join(a, long)))).toBe("ENAMETOOLONG");
      await put(disk, join(a, long.slice(1)), "two");
      expect((await disk.list(a)).toSorted()).toEqual(["file", long.slice(1)]);
      expect(await textOf(disk, file)).toBe("one");
    },
  },
  {
    name: "directories have no second name, and a file that is replaced loses the one that it had",
    async run(disk, directory) {
      const [sub, file, other] = [join(directory, "sub"), join(directory, "file"), join(directory, "other")];
      await disk.makeDirectory(sub);
      expect(await refusal(disk.link(sub, join(directory, "link")))).toBe("EPERM");
      await put(disk, file, "one");
      await disk.link(file, join(sub, "second"));
      await put(disk, other, "two");
      await disk.rename(other, file);
      expect(await disk.stat(join(sub, "second"))).toMatchObject({ links: 1, size: 3 });
      expect(await textOf(disk, join(sub, "second"))).toBe("one");
      expect(await textOf(disk, file)).toBe("two");
      expect(await refusal(disk.removeDirectory(sub))).toBe("ENOTEMPTY");
    },
  },
  {
    name: "attributes are those of the file, not of a name, and stay",
    async run(disk, directory) {
      const [path, link] = [join(directory, "file"), join(directory, "link")];
      await put(disk, path, "one");
      await disk.link(path, link);
      await disk.setAttributes(path, { mode: 0o640, ...(await ownerOf(disk, path)) });
      await disk.rename(path, join(directory, "moved"));
      expect((await disk.stat(link))?.mode).toBe(0o640);
      const none = disk.setAttributes(path, { mode: 0o640, uid: 0, gid: 0 });
      expect(await refusal(none)).toBe("ENOENT");
    },
  },
  {
    name: "a file that takes another's place is another one by inode and birth time",
    async run(disk, directory) {
      const path = join(directory, "file");
      await put(disk, path, "one");
      const before = await disk.stat(path);
      await disk.remove(path);
      await disk.syncDirectory(directory);
      await put(disk, path, "one");
      const after = await disk.stat(path);
      expect([after?.inode, after?.birthtimeNs]).not.toEqual([before?.inode, before?.birthtimeNs]);
    },
  },
];

async function cutting(disk: Disk, directory: string) {
  const [path, guard] = [join(directory, "log"), join(directory, "lease")];
  await put(disk, path, "one two");
  await put(disk, guard, "");
  return { path, guard: { path: guard, inode: await inodeOf(disk, guard) } };
}

const cuts: DiskPromise[] = [
  {
    name: "a tail is cut when everything is as it was seen",
    async run(disk, directory) {
      const { path, guard } = await cutting(disk, directory);
      expect(await disk.cutTail({ path, guard, size: 3, bytes: encode(" two") })).toBe(true);
      expect(await textOf(disk, path)).toBe("one");
      expect(await disk.cutTail({ path, guard, size: 3, bytes: encode(" two") })).toBe(false);
    },
  },
  {
    name: "a tail is not cut when the file grew, shrank or holds other bytes",
    async run(disk, directory) {
      const { path, guard } = await cutting(disk, directory);
      for (const [size, text] of [
        [3, " tw"],
        [3, " two!"],
        [3, " tvo"],
        [4, " two"],
        [7, "x"],
      ] as const) {
        expect(await disk.cutTail({ path, guard, size, bytes: encode(text) })).toBe(false);
      }
      expect(await textOf(disk, path)).toBe("one two");
    },
  },
  {
    name: "a tail is not cut when the lock file is another one or gone",
    async run(disk, directory) {
      const { path, guard } = await cutting(disk, directory);
      const cut = { path, guard, size: 3, bytes: encode(" two") };
      await put(disk, join(directory, "other"), "");
      await disk.rename(join(directory, "other"), guard.path);
      expect(await disk.cutTail(cut)).toBe(false);
      await disk.remove(guard.path);
      expect(await disk.cutTail(cut)).toBe(false);
      expect(await textOf(disk, path)).toBe("one two");
    },
  },
  {
    name: "where the lock file is another one nothing else is looked at; where it is the same a missing file is told",
    async run(disk, directory) {
      const { path, guard } = await cutting(disk, directory);
      const [none, wrong] = [join(directory, "none"), { path: guard.path, inode: "0" }];
      const cut = { size: 3, bytes: encode(" two") };
      expect(await disk.cutTail({ ...cut, path: none, guard: wrong })).toBe(false);
      expect(await disk.cutTail({ ...cut, path: directory, guard: wrong })).toBe(false);
      expect(await refusal(disk.cutTail({ ...cut, path: none, guard }))).toBe("ENOENT");
      expect(await refusal(disk.cutTail({ ...cut, path: directory, guard }))).toBe("EISDIR");
      const below = { path: join(path, "lease"), inode: guard.inode };
      expect(await disk.cutTail({ ...cut, path, guard: below })).toBe(false);
      expect(await textOf(disk, path)).toBe("one two");
    },
  },
  {
    name: "no bytes at the end are a tail too, and whoever appends goes on where the cut was",
    async run(disk, directory) {
      const { path, guard } = await cutting(disk, directory);
      await using(disk, path, "append", async (file) => {
        expect(await disk.cutTail({ path, guard, size: 7, bytes: encode("") })).toBe(true);
        expect(await disk.cutTail({ path, guard, size: 0, bytes: encode("one two") })).toBe(true);
        expect((await file.stat()).size).toBe(0);
        await file.write(encode("three"));
      });
      expect(await textOf(disk, path)).toBe("three");
    },
  },
];

/** Every promise of {@link Disk} that can be seen without a crash. */
export const diskContract: readonly DiskPromise[] = [
  ...openings,
  ...contents,
  ...openFilePromises,
  ...names,
  ...cuts,
];
