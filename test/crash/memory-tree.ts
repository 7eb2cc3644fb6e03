/**
 * The state of a disk in memory, without any waiting. It holds everything twice: as processes see it (cached) and as a
 * power cut would leave it (durable), with the changes that lead from the one to the other in the order they happened.
 */
import { posix } from "node:path";
import { DiskError } from "../../src/host/index.ts";
import { fingerprintOf } from "./memory-fingerprint.ts";
import {
  attributesOf,
  contentAfter,
  copyFile,
  directoryWith,
  edit,
  fileAfter,
  fileWith,
  reachableFrom,
  rootInode,
  type Attributes,
  type DirectoryNode,
  type Edit,
  type Fate,
  type FileNode,
  type NameChange,
  type Node,
  type UnsyncedChange,
  type UnsyncedContent,
} from "./memory-node.ts";
import { isTooLong, pathLengthMax, stepsOf } from "./memory-path.ts";

interface Place {
  readonly directory: DirectoryNode;
  readonly name: string;
  readonly node: Node | undefined;
}

/** What a file or directory costs besides its content, where space is bounded. */
const blockBytes = 4096;

export class MemoryTree {
  #root: DirectoryNode;
  #names: NameChange[] = [];
  #order = 0;
  #time = 1_700_000_000_000_000_000n;
  /** The files that have unsynced content, and those that somebody has open. */
  readonly #dirty = new Set<FileNode>();
  readonly #open = new Set<FileNode>();
  /** How many bytes there is room for; see {@link MemoryTree.used}. */
  space: number | undefined;

  constructor() {
    this.#root = directoryWith(attributesOf(rootInode, this.tick(), 0o700));
  }

  // Names

  /** The directory entry that a path names, whether something is there or not. */
  locate(verb: string, path: string): Place {
    const place = this.#placeOf(path);
    if (typeof place === "string") throw new DiskError(place, verb, path);
    return place;
  }

  /** What is there; undefined where nothing is, also where the path leads through a file. */
  findIfThere(verb: string, path: string): Node | undefined {
    const place = this.#placeOf(path);
    if (typeof place !== "string") return place.node;
    if (place === "ENOENT" || place === "ENOTDIR") return undefined;
    throw new DiskError(place, verb, path);
  }

  find(verb: string, path: string): Node {
    const { node } = this.locate(verb, path);
    if (node === undefined) throw new DiskError("ENOENT", verb, path);
    return node;
  }

  findFile(verb: string, path: string): FileNode {
    const node = this.find(verb, path);
    if (node.kind === "directory") throw new DiskError("EISDIR", verb, path);
    return node;
  }

  findDirectory(verb: string, path: string): DirectoryNode {
    const node = this.find(verb, path);
    if (node.kind !== "directory") throw new DiskError("ENOTDIR", verb, path);
    return node;
  }

  createFile(verb: string, path: string, mode: number): FileNode {
    const { directory, name } = this.#locateFree(verb, path);
    this.#takeBlock(verb, path);
    const node = fileWith(this.#newAttributes(mode));
    this.#change({ verb, path, home: directory, edits: [{ directory, name, node }] });
    return node;
  }

  makeDirectory(verb: string, path: string, mode: number): void {
    const { directory, name } = this.#locateFree(verb, path);
    this.#takeBlock(verb, path);
    const node = directoryWith(this.#newAttributes(mode));
    this.#change({ verb, path, home: directory, edits: [{ directory, name, node }] });
  }

  link(verb: string, from: string, to: string): void {
    const node = this.find(verb, from);
    const { directory, name } = this.#locateFree(verb, to);
    if (node.kind === "directory") throw new DiskError("EPERM", verb, from);
    this.#change({ verb, path: to, home: directory, edits: [{ directory, name, node }] });
  }

  rename(verb: string, from: string, to: string): void {
    // As Linux does it: both parents first, and the new name only when the old one is there.
    for (const path of [from, to]) {
      const parent = this.#parentOf(path);
      if (typeof parent === "string") throw new DiskError(parent, verb, path);
    }
    const source = this.locate(verb, from);
    const node = source.node;
    if (node === undefined) throw new DiskError("ENOENT", verb, from);
    const target = this.locate(verb, to);
    const [above, below] = [from, to].map((path) => `${posix.normalize(path)}/`.replace("//", "/"));
    if (node === target.node) return;
    if (below?.startsWith(above ?? "") === true) throw new DiskError("EINVAL", verb, to);
    if (above?.startsWith(below ?? "") === true) throw new DiskError("ENOTEMPTY", verb, to);
    const fault = faultOfReplacing(node, target.node);
    if (fault !== undefined) throw new DiskError(fault, verb, to);
    const edits = [
      { directory: source.directory, name: source.name, node: undefined },
      { directory: target.directory, name: target.name, node },
    ];
    this.#change({ verb, path: to, home: target.directory, edits });
  }

  remove(verb: string, path: string): void {
    this.findFile(verb, path);
    const { directory, name } = this.locate(verb, path);
    this.#change({ verb, path, home: directory, edits: [{ directory, name, node: undefined }] });
  }

  removeDirectory(verb: string, path: string): void {
    const node = this.findDirectory(verb, path);
    if (node.cached.size > 0) throw new DiskError("ENOTEMPTY", verb, path);
    const { directory, name } = this.locate(verb, path);
    this.#change({ verb, path, home: directory, edits: [{ directory, name, node: undefined }] });
  }

  syncDirectory(directory: DirectoryNode): void {
    const touched = new Set<string>();
    const keyOf = (edit: Edit): string => `${edit.directory.inode}/${edit.name}`;
    const durable: NameChange[] = [];
    // Backwards: what a durable change builds on is durable as well.
    for (const change of this.#names.toReversed()) {
      if (change.home !== directory && !change.edits.some((edit) => touched.has(keyOf(edit)))) continue;
      change.edits.forEach((edit) => touched.add(keyOf(edit)));
      durable.unshift(change);
    }
    durable.forEach(makeDurable);
    this.#names = this.#names.filter((change) => !durable.includes(change));
    const isUnsynced = this.#names.some(({ edits }) => edits.some((each) => each.directory === directory));
    if (!isUnsynced) directory.durable = directory.cached;
  }

  // Content

  write(node: FileNode, path: string, bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return;
    node.cached.write(bytes, position);
    node.pending.push({ kind: "write", ...this.#unsynced(node, path), position, bytes: bytes.slice() });
    node.mtimeNs = node.ctimeNs = this.tick();
  }

  truncate(node: FileNode, path: string, size: number): void {
    if (size - node.cached.size > this.#room()) throw new DiskError("ENOSPC", "truncate", path);
    node.cached.truncate(size);
    node.pending.push({ kind: "truncate", ...this.#unsynced(node, path), size });
    node.mtimeNs = node.ctimeNs = this.tick();
  }

  /** How many of the bytes that are to be written there find room. Throws ENOSPC where none does. */
  roomFor(node: FileNode, path: string, bytes: number, position: number): number {
    if (this.space === undefined || position + bytes <= node.cached.size) return bytes;
    const count = Math.min(bytes, node.cached.size + this.#room() - position);
    if (count <= 0 && bytes > 0) throw new DiskError("ENOSPC", "write", path);
    return count;
  }

  syncFile(node: FileNode): void {
    node.durable = contentAfter(node, () => "kept");
    node.pending = [];
    this.#dirty.delete(node);
  }

  /** What a failed sync leaves: the pages count as clean, so no later sync writes them, but the disk lacks them. */
  failSync(node: FileNode): void {
    node.hasLost ||= node.pending.length > 0;
    node.pending = [];
    this.#dirty.delete(node);
  }

  /** Makes everything durable. */
  settle(): void {
    this.#dirty.forEach((node) => this.syncFile(node));
    this.#names = [];
    for (const node of this.#nodes()) if (node.kind === "directory") node.durable = node.cached;
  }

  /** Keeps a file, and the number of its inode, though it may have no name; until it is closed as often. */
  hold(node: Node): void {
    if (node.kind === "directory") return;
    node.handles += 1;
    this.#open.add(node);
  }

  close(node: Node): void {
    if (node.kind === "directory") return;
    node.handles -= 1;
    if (node.handles === 0) this.#open.delete(node);
  }

  tick(): bigint {
    this.#time += 1000n;
    return this.#time;
  }

  // Crashes

  /** What a power cut would leave of a file, or undefined where it would leave none. */
  durableBytes(path: string): Uint8Array | undefined {
    let node: Node | undefined = this.#root;
    for (const step of posix.normalize(path).split("/")) {
      if (step === "") continue;
      node = node?.kind === "directory" ? node.durable.get(step) : undefined;
    }
    return node?.kind === "file" ? node.durable.bytes() : undefined;
  }

  /** The paths of all files, as processes see them, sorted. */
  files(): string[] {
    const under = (directory: DirectoryNode, path: string): string[] =>
      [...directory.cached].flatMap(([name, node]) =>
        node.kind === "file" ? [`${path}/${name}`] : under(node, `${path}/${name}`),
      );
    return under(this.#root, "").toSorted();
  }

  /** Everything that a power cut puts at stake, in the order it happened. */
  unsynced(): UnsyncedChange[] {
    const names = this.#names.map(({ order, path, verb }): UnsyncedChange => ({
      kind: "name",
      order,
      path,
      verb,
    }));
    const files = [...this.#dirty];
    // Nobody will ever read what has no name, not even a power cut brings it back.
    const reachable = files.some(({ links }) => links === 0) ? this.#nodes() : undefined;
    const contents = files.flatMap((node) => (reachable?.has(node) === false ? [] : node.pending));
    if (names.length === 0 && files.length === 1) return contents;
    return [...contents, ...names].sort((one, other) => one.order - other.order);
  }

  /** See {@link fingerprintOf}. */
  fingerprint(): string {
    return fingerprintOf(this.#root, this.#names);
  }

  /** What counts against the space: the content of all files, and a block for each file and each directory. */
  used(): number {
    let used = 0;
    for (const node of new Set([...this.#open, ...this.#namedNodes()])) {
      used += blockBytes + (node.kind === "file" ? node.cached.size : 0);
    }
    return used;
  }

  /** A copy without the processes, which changes apart; cached state and unsynced changes are in it. */
  copy(): MemoryTree {
    const tree = this.#after();
    const copies = new Map<Node, Node>();
    const copyOf = <N extends Node>(node: N): N => (copies.get(node) ?? copyNode(node)) as N;
    const copyNode = (node: Node): Node => {
      if (node.kind === "file") {
        const copy = copyFile(node);
        copies.set(node, copy);
        if (copy.pending.length > 0) tree.#dirty.add(copy);
        return copy;
      }
      const copy = { ...node };
      copies.set(node, copy);
      copy.cached = mapValues(node.cached, copyOf);
      copy.durable = node.durable === node.cached ? copy.cached : mapValues(node.durable, copyOf);
      return copy;
    };
    tree.#root = copyOf(this.#root);
    tree.#names = this.#names.map((change) => ({
      ...change,
      home: copyOf(change.home),
      edits: change.edits.map(({ directory, name, node }) => ({
        directory: copyOf(directory),
        name,
        node: node === undefined ? undefined : copyOf(node),
      })),
    }));
    return tree;
  }

  /** What stands on the disk after a power cut. */
  afterPowerCut(choose: (change: UnsyncedChange) => Fate): MemoryTree {
    const fates = new Map(this.unsynced().map((change) => [change.order, choose(change)]));
    const fateOf = (change: { order: number }): Fate => fates.get(change.order) ?? "dropped";
    const edited = new Map<DirectoryNode, Map<string, Node>>();
    for (const change of this.#names) {
      if (fateOf(change) === "dropped") continue;
      for (const each of change.edits) {
        const names = edited.get(each.directory) ?? new Map(each.directory.durable);
        edit(names, each);
        edited.set(each.directory, names);
      }
    }
    const tree = this.#after();
    const left = new Map<Node, Node>();
    const leftOf = (node: Node): Node => {
      const found = left.get(node) ?? leave(node);
      if (found.kind === "file") found.links += 1;
      return found;
    };
    const leave = (node: Node): Node => {
      const copy = node.kind === "file" ? fileAfter(node, fateOf) : { ...node };
      left.set(node, copy);
      if (node.kind === "file" || copy.kind === "file") return copy;
      copy.cached = copy.durable = mapValues(edited.get(node) ?? node.durable, leftOf);
      return copy;
    };
    tree.#root = leave(this.#root) as DirectoryNode;
    return tree;
  }

  /** An empty tree in which time goes on. */
  #after(): MemoryTree {
    const tree = new MemoryTree();
    tree.#order = this.#order;
    tree.#time = this.#time;
    tree.space = this.space;
    return tree;
  }

  // Inside

  /** The directory that a path leads to and the name in it; or the code of what is in the way. */
  #parentOf(path: string): Omit<Place, "node"> | string {
    if (path.length >= pathLengthMax) return "ENAMETOOLONG";
    const steps = stepsOf(path);
    const name = steps.pop() ?? "";
    let directory = this.#root;
    for (const step of steps) {
      if (isTooLong(step)) return "ENAMETOOLONG";
      const next = directory.cached.get(step);
      if (next === undefined) return "ENOENT";
      if (next.kind !== "directory") return "ENOTDIR";
      directory = next;
    }
    return { directory, name };
  }

  #placeOf(path: string): Place | string {
    const parent = this.#parentOf(path);
    if (typeof parent === "string") return parent;
    const { directory, name } = parent;
    if (isTooLong(name)) return "ENAMETOOLONG";
    return { directory, name, node: name === "" ? directory : directory.cached.get(name) };
  }

  #unsynced(node: FileNode, path: string): UnsyncedContent {
    this.#dirty.add(node);
    return { order: this.#order++, path, inode: node.inode, durableSize: node.durable.size };
  }

  #room(): number {
    return this.space === undefined ? Infinity : this.space - this.used();
  }

  #takeBlock(verb: string, path: string): void {
    if (this.#room() < blockBytes) throw new DiskError("ENOSPC", verb, path);
  }

  #locateFree(verb: string, path: string): Place {
    const place = this.locate(verb, path);
    if (place.node !== undefined) throw new DiskError("EEXIST", verb, path);
    return place;
  }

  #change(change: Omit<NameChange, "order">): void {
    this.#names.push({ ...change, order: this.#order++ });
    const now = this.tick();
    for (const each of change.edits) {
      const { directory, name, node } = each;
      const before = directory.cached.get(name);
      if (directory.cached === directory.durable) directory.cached = new Map(directory.cached);
      edit(directory.cached, each);
      directory.mtimeNs = directory.ctimeNs = now;
      if (node !== undefined) countLink(node, 1, now);
      if (before !== undefined) countLink(before, -1, now);
    }
  }

  #newAttributes(mode: number): Attributes {
    return attributesOf(this.#newInode(), this.tick(), mode);
  }

  /** The lowest number that nobody has, as ext4 gives it. */
  #newInode(): number {
    // The disk must know it as free too: until then a power cut may bring the old file back.
    const taken = new Set<number>();
    for (const { inode } of this.#nodes()) taken.add(inode);
    for (const { inode } of this.#open) taken.add(inode);
    let inode = rootInode;
    while (taken.has(inode)) inode += 1;
    return inode;
  }

  /** Every node that a name leads to: a cached or durable one, or one of an unsynced change. */
  #nodes(): Set<Node> {
    const roots: Node[] = [this.#root];
    for (const { edits, home } of this.#names) {
      roots.push(home);
      for (const { directory, node } of edits) roots.push(directory, node ?? directory);
    }
    return reachableFrom(roots);
  }

  *#namedNodes(directory = this.#root): Generator<Node> {
    for (const node of directory.cached.values()) {
      yield node;
      if (node.kind === "directory") yield* this.#namedNodes(node);
    }
  }
}

function faultOfReplacing(node: Node, replaced: Node | undefined): string | undefined {
  if (replaced === undefined) return undefined;
  if (replaced.kind === "file") return node.kind === "directory" ? "ENOTDIR" : undefined;
  if (node.kind === "file") return "EISDIR";
  return replaced.cached.size > 0 ? "ENOTEMPTY" : undefined;
}

function countLink(node: Node, by: number, now?: bigint): void {
  if (node.kind === "file") node.links += by;
  if (now !== undefined) node.ctimeNs = now;
}

function makeDurable({ edits }: NameChange): void {
  for (const each of edits) edit(each.directory.durable, each);
}

function mapValues<V>(map: ReadonlyMap<string, V>, change: (value: V) => V): Map<string, V> {
  const mapped = new Map<string, V>();
  for (const [key, value] of map) mapped.set(key, change(value));
  return mapped;
}
