/**
 * The state of a disk in memory, without any waiting. It holds everything twice: as processes see it (cached) and as a
 * power cut would leave it (durable), with the changes that lead from the one to the other in the order they happened.
 */
import { posix } from "node:path";
import { DiskError } from "../../src/host/index.ts";
import { Content } from "./memory-content.ts";

interface Unsynced {
  /** Rises over the whole disk. */
  readonly order: number;
  readonly path: string;
}

/** A change of what a file holds, by whatever name it was opened. */
interface UnsyncedContent extends Unsynced {
  /** Tells the file from all others that have unsynced changes. */
  readonly inode: number;
  /** How large a power cut leaves the file that takes all its unsynced changes. */
  readonly durableSize: number;
}

/** A change of content or of a name that no sync has made durable. */
export type UnsyncedChange =
  | (UnsyncedContent & { readonly kind: "write"; readonly position: number; readonly bytes: Uint8Array })
  | (UnsyncedContent & { readonly kind: "truncate"; readonly size: number })
  | (Unsynced & { readonly kind: "name"; readonly verb: string });

/**
 * What a power cut makes of a change. `torn`: only the first bytes of a write arrived. `from`: only those from that one
 * on. `garbage`: its place was taken, its bytes never came. `instead`: these bytes stand there. For names and truncates
 * all but `dropped` means kept.
 */
export type Fate =
  | "kept"
  | "dropped"
  | "garbage"
  | { readonly torn: number }
  | { readonly from: number }
  | { readonly instead: Uint8Array };

interface Attributes {
  inode: number;
  birthtimeNs: bigint;
  mtimeNs: bigint;
  ctimeNs: bigint;
  mode: number;
  uid: number;
  gid: number;
}

/** A file, apart from its names. */
export interface FileNode extends Attributes {
  readonly kind: "file";
  /** Names as processes see them. */
  links: number;
  /** Open descriptors and locks; while there are any the inode's number is not given to another file. */
  handles: number;
  cached: Content;
  durable: Content;
  pending: Exclude<UnsyncedChange, { kind: "name" }>[];
}

/** A directory. */
export interface DirectoryNode extends Attributes {
  readonly kind: "directory";
  cached: Map<string, Node>;
  durable: Map<string, Node>;
}

export type Node = FileNode | DirectoryNode;

interface Edit {
  readonly directory: DirectoryNode;
  readonly name: string;
  readonly node: Node | undefined;
}

/** All of its edits become durable together, when `home` is synced: a rename when the directory of the new name is. */
interface NameChange {
  readonly order: number;
  readonly verb: string;
  readonly path: string;
  readonly home: DirectoryNode;
  readonly edits: readonly Edit[];
}

interface Place {
  readonly directory: DirectoryNode;
  readonly name: string;
  readonly node: Node | undefined;
}

export class MemoryTree {
  #root: DirectoryNode;
  #names: NameChange[] = [];
  #order = 0;
  #time = 1_700_000_000_000_000_000n;
  #inodes = 2;
  /** Numbers whose files are gone; like ext4 we give the lowest one to the next file. */
  #free = new Set<number>();

  constructor() {
    this.#root = this.#newDirectory(0o700);
  }

  // Names

  /** The directory entry that a path names, whether something is there or not. */
  locate(verb: string, path: string): Place {
    const steps = posix
      .normalize(path)
      .split("/")
      .filter((step) => step !== "");
    const name = steps.pop() ?? "";
    let directory = this.#root;
    if (name === "") return { directory, name, node: directory };
    for (const step of steps) {
      const next = directory.cached.get(step);
      if (next === undefined) throw new DiskError("ENOENT", verb, path);
      if (next.kind !== "directory") throw new DiskError("ENOTDIR", verb, path);
      directory = next;
    }
    return { directory, name, node: directory.cached.get(name) };
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
    const node: FileNode = {
      kind: "file",
      ...this.#newAttributes(mode),
      links: 0,
      handles: 0,
      cached: new Content(),
      durable: new Content(),
      pending: [],
    };
    this.#change({ verb, path, home: directory, edits: [{ directory, name, node }] });
    return node;
  }

  makeDirectory(verb: string, path: string, mode: number): void {
    const { directory, name } = this.#locateFree(verb, path);
    const node = this.#newDirectory(mode);
    this.#change({ verb, path, home: directory, edits: [{ directory, name, node }] });
  }

  link(verb: string, from: string, to: string): void {
    const node = this.find(verb, from);
    const { directory, name } = this.#locateFree(verb, to);
    if (node.kind === "directory") throw new DiskError("EPERM", verb, from);
    this.#change({ verb, path: to, home: directory, edits: [{ directory, name, node }] });
  }

  rename(verb: string, from: string, to: string): void {
    const source = this.locate(verb, from);
    const target = this.locate(verb, to);
    const node = source.node;
    if (node === undefined) throw new DiskError("ENOENT", verb, from);
    if (node === target.node) return;
    if (node.kind === "directory" && `${posix.normalize(to)}/`.startsWith(`${posix.normalize(from)}/`)) {
      throw new DiskError("EINVAL", verb, to);
    }
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
  }

  // Content

  write(node: FileNode, path: string, bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return;
    node.cached.write(bytes, position);
    node.pending.push({ kind: "write", ...this.#unsynced(node, path), position, bytes: bytes.slice() });
    node.mtimeNs = node.ctimeNs = this.tick();
  }

  truncate(node: FileNode, path: string, size: number): void {
    node.cached.truncate(size);
    node.pending.push({ kind: "truncate", ...this.#unsynced(node, path), size });
    node.mtimeNs = node.ctimeNs = this.tick();
  }

  syncFile(node: FileNode): void {
    for (const change of node.pending) applyTo(node.durable, change, "kept");
    node.pending = [];
  }

  /** What a failed sync leaves: the pages count as clean, so no later sync writes them, but the disk lacks them. */
  failSync(node: FileNode): void {
    node.pending = [];
  }

  /** Makes everything durable. */
  settle(): void {
    for (const node of this.#nodes()) if (node.kind === "file") this.syncFile(node);
    this.#names.forEach(makeDurable);
    this.#names = [];
  }

  close(node: Node): void {
    if (node.kind === "directory") return;
    node.handles -= 1;
    this.#release(node);
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
    const contents = [...this.#nodes()].flatMap((node) => (node.kind === "file" ? node.pending : []));
    const names = this.#names.map(({ order, path, verb }): UnsyncedChange => ({
      kind: "name",
      order,
      path,
      verb,
    }));
    return [...contents, ...names].toSorted((one, other) => one.order - other.order);
  }

  /** A copy without the processes, which shares nothing; cached state and unsynced changes are in it. */
  copy(): MemoryTree {
    const copies = new Map<Node, Node>();
    for (const node of this.#nodes()) copies.set(node, copyNode(node));
    const copyOf = <N extends Node>(node: N): N => copies.get(node) as N;
    const copyEdit = ({ directory, name, node }: Edit): Edit => ({
      directory: copyOf(directory),
      name,
      node: node === undefined ? undefined : copyOf(node),
    });
    for (const node of copies.values()) {
      if (node.kind !== "directory") continue;
      node.cached = mapValues(node.cached, copyOf);
      node.durable = mapValues(node.durable, copyOf);
    }
    const tree = new MemoryTree();
    tree.#root = copyOf(this.#root);
    tree.#names = this.#names.map((change) => ({
      ...change,
      home: copyOf(change.home),
      edits: change.edits.map(copyEdit),
    }));
    tree.#order = this.#order;
    tree.#time = this.#time;
    tree.#inodes = this.#inodes;
    tree.#free = new Set(this.#free);
    return tree;
  }

  /** What stands on the disk after a power cut. */
  afterPowerCut(choose: (change: UnsyncedChange) => Fate): MemoryTree {
    const tree = this.copy();
    const fates = new Map(tree.unsynced().map((change) => [change.order, choose(change)]));
    const fateOf = (change: { order: number }): Fate => fates.get(change.order) ?? "dropped";
    for (const node of tree.#nodes()) {
      if (node.kind !== "file") continue;
      for (const change of node.pending) applyTo(node.durable, change, fateOf(change));
    }
    tree.#names.filter((change) => fateOf(change) !== "dropped").forEach(makeDurable);
    tree.#restart();
    return tree;
  }

  /** The tree with no process and nothing unsynced: what is durable is all that there is. */
  #restart(): void {
    this.#names = [];
    const before = new Set([...this.#nodes()].map((node) => node.inode));
    for (const node of this.#nodes("durable")) {
      before.delete(node.inode);
      this.#free.delete(node.inode);
      if (node.kind === "directory") {
        node.cached = new Map(node.durable);
      } else {
        node.cached = new Content(node.durable.bytes());
        node.pending = [];
        node.handles = node.links = 0;
      }
    }
    for (const node of this.#nodes()) {
      if (node.kind === "directory") node.cached.forEach((child) => countLink(child, 1));
    }
    before.forEach((inode) => this.#free.add(inode));
  }

  // Inside

  #unsynced({ inode, durable }: FileNode, path: string): UnsyncedContent {
    return { order: this.#order++, path, inode, durableSize: durable.size };
  }

  #locateFree(verb: string, path: string): Place {
    const place = this.locate(verb, path);
    if (place.node !== undefined) throw new DiskError("EEXIST", verb, path);
    return place;
  }

  #change(change: Omit<NameChange, "order">): void {
    this.#names.push({ ...change, order: this.#order++ });
    const now = this.tick();
    const gone = new Set<Node>();
    for (const { directory, name, node } of change.edits) {
      const before = directory.cached.get(name);
      if (node === undefined) directory.cached.delete(name);
      else directory.cached.set(name, node);
      directory.mtimeNs = directory.ctimeNs = now;
      if (node !== undefined) countLink(node, 1, now);
      if (before !== undefined) countLink(before, -1, now);
      if (before !== undefined) gone.add(before);
    }
    for (const { node } of change.edits) if (node !== undefined) gone.delete(node);
    gone.forEach((node) => this.#release(node));
  }

  #release(node: Node): void {
    if (node.kind === "file" && (node.links > 0 || node.handles > 0)) return;
    this.#free.add(node.inode);
  }

  #newAttributes(mode: number): Attributes {
    const now = this.tick();
    return {
      inode: this.#newInode(),
      birthtimeNs: now,
      mtimeNs: now,
      ctimeNs: now,
      mode: mode & 0o777,
      uid: 0,
      gid: 0,
    };
  }

  #newInode(): number {
    // A number is free only when the disk knows it too: until then a power cut may bring the old file back.
    const taken = this.#free.size === 0 ? undefined : new Set([...this.#nodes()].map((node) => node.inode));
    for (const inode of [...this.#free].toSorted((one, other) => one - other)) {
      if (taken?.has(inode) === true) continue;
      this.#free.delete(inode);
      return inode;
    }
    return this.#inodes++;
  }

  #newDirectory(mode: number): DirectoryNode {
    return { kind: "directory", ...this.#newAttributes(mode), cached: new Map(), durable: new Map() };
  }

  /** Every node that a name leads to: a cached or durable one, or one of an unsynced change. */
  #nodes(names: "all" | "durable" = "all"): Set<Node> {
    const found = new Set<Node>([this.#root]);
    for (const { edits, home } of this.#names) {
      found.add(home);
      for (const { directory, node } of edits) {
        found.add(directory);
        if (node !== undefined) found.add(node);
      }
    }
    // A set goes on with what is added while it is walked.
    for (const node of found) {
      if (node.kind !== "directory") continue;
      node.durable.forEach((child) => found.add(child));
      if (names === "all") node.cached.forEach((child) => found.add(child));
    }
    return found;
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

function makeDurable(change: NameChange): void {
  for (const { directory, name, node } of change.edits) {
    if (node === undefined) directory.durable.delete(name);
    else directory.durable.set(name, node);
  }
}

function applyTo(content: Content, change: FileNode["pending"][number], fate: Fate): void {
  if (fate === "dropped") return;
  if (change.kind === "truncate") {
    content.truncate(change.size);
    return;
  }
  const { bytes, position } = change;
  if (fate === "kept") content.write(bytes, position);
  else if (fate === "garbage") content.write(garbageFor(bytes), position);
  else if ("torn" in fate) content.write(bytes.subarray(0, fate.torn), position);
  else if ("from" in fate) content.write(bytes.subarray(fate.from), position + fate.from);
  else content.write(fate.instead, position);
}

/** As many bytes, of which none is the one that was written, so that nobody takes them for it. */
export function garbageFor(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, index) => {
    const garbage = (index * 167 + 13) & 0xff;
    return garbage === byte ? garbage ^ 0x80 : garbage;
  });
}

function copyNode(node: Node): Node {
  if (node.kind === "directory") return { ...node };
  return {
    ...node,
    handles: 0, // Whoever had it open is dead in the copy.
    cached: new Content(node.cached.bytes()),
    durable: new Content(node.durable.bytes()),
    pending: [...node.pending],
  };
}

function mapValues<V>(map: Map<string, V>, change: (value: V) => V): Map<string, V> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
