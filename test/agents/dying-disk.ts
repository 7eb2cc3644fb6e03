/** A process that dies at a chosen effect of its disk, on any disk: what it asked before has happened, nothing after. */
import type { Disk, DiskFile } from "../../src/host/index.ts";

/** What every use of the disk ends with from the death on. Nothing in the product may catch it. */
export class Death extends Error {
  override readonly name = "Death";
}

/** An effect that took place. */
export interface Done {
  readonly verb: string;
  readonly path: string;
  readonly to?: string;
}

export interface DyingDisk {
  readonly disk: Disk;
  /** The effects that took place, in order. */
  readonly done: readonly Done[];
}

/** `at` counts effects from 0; the death comes right before or right after that one. Without it nobody dies. */
export function dyingDisk(disk: Disk, death?: { at: number; when: "before" | "after" }): DyingDisk {
  const done: Done[] = [];
  let isDead = false;
  const alive = (): void => {
    if (isDead) throw new Death();
  };
  const die = (): never => {
    isDead = true;
    throw new Death();
  };
  const effect = async <T>(what: Done, act: () => Promise<T>): Promise<T> => {
    alive();
    const isLast = death?.at === done.length;
    if (isLast && death.when === "before") return die();
    const result = await act();
    done.push(what);
    return isLast ? die() : result;
  };
  const look = async <T>(act: () => Promise<T>): Promise<T> => {
    alive();
    return await act();
  };
  const fileOf = (file: DiskFile): DiskFile => ({
    path: file.path,
    read: (into, position) => look(() => file.read(into, position)),
    write: (bytes, position) => effect({ verb: "write", path: file.path }, () => file.write(bytes, position)),
    sync: () => effect({ verb: "sync", path: file.path }, () => file.sync()),
    truncate: (size) => effect({ verb: "truncate", path: file.path }, () => file.truncate(size)),
    stat: () => look(() => file.stat()),
    // The system closes what a dead process had open.
    close: async () => {
      await file.close();
      alive();
    },
  });
  const mortal: Disk = {
    ...forward(disk),
    stat: (path) => look(() => disk.stat(path)),
    statLink: (path) => look(() => disk.statLink(path)),
    realPath: (path) => look(() => disk.realPath(path)),
    list: (path) => look(() => disk.list(path)),
    open: async (path, mode, permissions) => {
      const open = (): Promise<DiskFile> => disk.open(path, mode, permissions);
      const isNew = mode.startsWith("create");
      return fileOf(isNew ? await effect({ verb: "create", path }, open) : await look(open));
    },
    makeDirectory: (path, permissions) =>
      effect({ verb: "makeDirectory", path }, () => disk.makeDirectory(path, permissions)),
    rename: (from, to) => effect({ verb: "rename", path: from, to }, () => disk.rename(from, to)),
    link: (from, to) => effect({ verb: "link", path: from, to }, () => disk.link(from, to)),
    remove: (path) => effect({ verb: "remove", path }, () => disk.remove(path)),
    removeDirectory: (path) => effect({ verb: "removeDirectory", path }, () => disk.removeDirectory(path)),
    setAttributes: (path, attributes) =>
      effect({ verb: "setAttributes", path }, () => disk.setAttributes(path, attributes)),
    syncDirectory: (path) => effect({ verb: "syncDirectory", path }, () => disk.syncDirectory(path)),
  };
  return { disk: mortal, done };
}

/** All methods of a disk as an object of their own, to put others in the place of some. */
export function forward(disk: Disk): Disk {
  return {
    open: (path, mode, permissions) => disk.open(path, mode, permissions),
    stat: (path) => disk.stat(path),
    statLink: (path) => disk.statLink(path),
    realPath: (path) => disk.realPath(path),
    list: (path) => disk.list(path),
    makeDirectory: (path, permissions) => disk.makeDirectory(path, permissions),
    rename: (from, to) => disk.rename(from, to),
    link: (from, to) => disk.link(from, to),
    remove: (path) => disk.remove(path),
    removeDirectory: (path) => disk.removeDirectory(path),
    setAttributes: (path, attributes) => disk.setAttributes(path, attributes),
    syncDirectory: (path) => disk.syncDirectory(path),
    cutTail: (cut) => disk.cutTail(cut),
    fileSystem: (path) => disk.fileSystem(path),
    watch: (path, changed) => disk.watch(path, changed),
  };
}
