import { DiskError, type DiskFile, type FileStat, type OpenMode } from "../../src/host/index.ts";
import type { Action, Verb } from "./memory-effect.ts";
import type { FileNode, Node } from "./memory-node.ts";
import type { MemoryTree } from "./memory-tree.ts";

/** What is opened, how, and who lets its effects happen. */
interface Opening {
  readonly tree: MemoryTree;
  readonly node: Node;
  readonly path: string;
  readonly mode: OpenMode;
  readonly perform: <T>(verb: Verb, path: string, action: Action<T>) => Promise<T>;
}

/** An open file or directory. Holds it in the tree until it is closed. */
export function openNode(opening: Opening): DiskFile {
  const { tree, node, path, mode, perform } = opening;
  tree.hold(node);
  let open = true;
  let offset = 0;
  const appends = mode === "append" || mode === "create_append";
  const onOpen = async <T>(verb: Verb, action: Action<T>): Promise<T> => {
    if (!open) throw new DiskError("EBADF", verb, path);
    return perform(verb, path, action);
  };
  const fileOf = (verb: Verb, code: string, writes: boolean): FileNode => {
    if (writes && mode === "read") throw new DiskError(code, verb, path);
    if (node.kind === "directory") throw new DiskError("EISDIR", verb, path);
    return node;
  };
  const write = (bytes: Uint8Array, position: number | undefined, short = bytes.length): number => {
    const file = fileOf("write", "EBADF", true);
    const start = appends ? file.cached.size : (position ?? offset);
    const count = Math.min(short, tree.roomFor(file, path, bytes.length, start));
    tree.write(file, path, bytes.subarray(0, count), start);
    if (position === undefined) offset = start + count;
    return count;
  };
  return {
    path,
    read: (into, position) =>
      onOpen("read", {
        act: () => (into.length === 0 ? 0 : fileOf("read", "EBADF", false).cached.read(into, position)),
      }),
    write: (bytes, position) =>
      onOpen("write", {
        act: ({ short }) => write(bytes, position, short),
        details: { bytes: bytes.length },
      }),
    sync: () =>
      onOpen("sync", {
        act: () => (node.kind === "file" ? tree.syncFile(node) : tree.syncDirectory(node)),
        fail: () => node.kind === "file" && tree.failSync(node),
      }),
    truncate: (size) =>
      onOpen("truncate", { act: () => tree.truncate(fileOf("truncate", "EINVAL", true), path, size) }),
    stat: () => onOpen("statFile", { act: () => toFileStat(node) }),
    close: () =>
      onOpen("close", {
        act: () => {
          open = false;
          tree.close(node);
        },
      }),
  };
}

/** What stat tells. */
export function toFileStat(node: Node): FileStat {
  return {
    kind: node.kind,
    size: node.kind === "file" ? node.cached.size : 4096,
    dev: "1",
    inode: String(node.inode),
    birthtimeNs: String(node.birthtimeNs),
    mtimeNs: String(node.mtimeNs),
    ctimeNs: String(node.ctimeNs),
    mode: node.mode,
    uid: node.uid,
    gid: node.gid,
    links: node.kind === "file" ? node.links : 2,
  };
}
