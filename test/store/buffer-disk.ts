import type { Disk, DiskFile } from "../../src/host/index.ts";
import { DiskError } from "../../src/host/index.ts";

/** A disk for readers that consists of buffers: for properties that read thousands of variants of a file. */
export function bufferDisk(files: ReadonlyMap<string, Uint8Array>): Disk {
  const unused = () => Promise.reject(new DiskError("EROFS", "change", "a buffer"));
  const open = async (path: string): Promise<DiskFile> => {
    const bytes = files.get(path);
    if (bytes === undefined) throw new DiskError("ENOENT", "open", path);
    return {
      path,
      read: async (into, position) => {
        const count = Math.max(0, Math.min(into.length, bytes.length - position));
        into.set(bytes.subarray(position, position + count));
        return count;
      },
      stat: async () => ({
        kind: "file",
        size: bytes.length,
        dev: "1",
        inode: "1",
        birthtimeNs: "0",
        mtimeNs: "0",
        ctimeNs: "0",
        mode: 0o600,
        uid: 0,
        gid: 0,
        links: 1,
      }),
      write: unused,
      sync: unused,
      truncate: unused,
      close: async () => undefined,
    };
  };
  return {
    open,
    stat: unused,
    statLink: unused,
    realPath: unused,
    list: unused,
    makeDirectory: unused,
    rename: unused,
    link: unused,
    remove: unused,
    removeDirectory: unused,
    setAttributes: unused,
    syncDirectory: unused,
    cutTail: unused,
    fileSystem: unused,
    watch: () => () => undefined,
  };
}
